// Search in pages that are opened as files: a browser starts no worker from a file, so a hidden frame replaces it.
// Pages of a server use the browser's workers.
(function () {
  if (location.protocol !== "file:") {
    return;
  }

  // What the worker's script expects of its surroundings. `importScripts` loads one script after the other.
  function prepareFrame(frame, parent) {
    frame.postMessage = (message) => parent.dispatchEvent(new CustomEvent("simple-worker", { detail: [frame, message] }));
    frame.importScripts = (...addresses) =>
      addresses.reduce(
        (earlier, address) =>
          earlier.then(
            () =>
              new Promise((resolve, reject) => {
                const script = frame.document.createElement("script");
                script.src = address;
                script.onload = resolve;
                script.onerror = () => reject(new Error("cannot load " + address));
                frame.document.body.appendChild(script);
              }),
          ),
        Promise.resolve(),
      );
  }

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      const element = document.createElement("iframe");
      element.hidden = true;
      element.srcdoc = "<body></body>";
      element.onload = () => this.start(element.contentWindow, address);
      document.body.appendChild(element);
    }

    start(frame, address) {
      prepareFrame(frame, window);
      window.addEventListener("simple-worker", (event) => {
        const [source, data] = event.detail;
        if (source === frame) {
          this.dispatchEvent(new MessageEvent("message", { data }));
        }
      });
      frame.importScripts(new URL(address, location)).then(() => {
        this.deliver = (data) => frame.dispatchEvent(new MessageEvent("message", { data }));
        this.waiting.splice(0).forEach(this.deliver);
      });
    }

    postMessage(data) {
      if (this.deliver) {
        this.deliver(data);
      } else {
        this.waiting.push(data);
      }
    }
  }

  window.Worker = FrameWorker;
})();
