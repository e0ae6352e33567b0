// The JupyterLab extension, written by hand in the form that JupyterLab loads: a container of module federation.
// It needs no build step. JupyterLab passes its shared packages to init() and calls the plugins that get() returns.
"use strict";

(() => {
  const MIME = "text/x-simple";
  const KEYWORDS = new Set(
    ("fn me val var let const static struct class enum trait impl mixin extern use import export mod pub type alias " +
      "if elif else for while loop match case return break continue pass in is not and or xor as self super async " +
      "await yield spawn with defer unsafe move mut where").split(" "));
  const CONSTANTS = new Set(["true", "false", "nil", "None"]);
  const BUILTINS = new Set(
    ("print println print_raw eprint eprintln assert attempt panic exit input len range enumerate zip sorted reversed " +
      "min max sum any all abs round type_of isinstance getattr setattr hasattr next iter Some Ok Err int float " +
      "str text bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64").split(" "));
  const DEFINES = { fn: "def", me: "def", class: "class", struct: "class", enum: "class", trait: "class", mixin: "class" };

  // ---- the language, as a CodeMirror stream parser

  const NAME = /^[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*/;
  const NUMBER = /^(0x[\da-fA-F_]+|0b[01_]+|0o[0-7_]+|\d[\d_]*(\.\d[\d_]*)?([eE][+-]?\d+)?)([iuf]\d{1,2})?/;

  function inComment(stream, state) {
    while (!stream.eol()) {
      if (stream.match("*/")) {
        if (--state.comments === 0) break;
      } else if (stream.match("/*")) {
        state.comments++;
      } else {
        stream.next();
      }
    }
    return "comment";
  }

  function inString(stream, state) {
    const { quote, interpolates, escapes } = state.string;
    while (!stream.eol()) {
      if (stream.match(quote)) {
        state.string = null;
        return "string";
      }
      if (interpolates && stream.match("{{")) continue;
      if (interpolates && stream.peek() === "{" && /^\{[^"'\\}\s]/.test(stream.string.slice(stream.pos))) {
        if (stream.pos > stream.start) return "string";
        stream.next();
        state.outer.push({ string: state.string, depth: 0 });
        state.string = null;
        return "brace";
      }
      if (escapes && stream.match(/^\\(u\{[\da-fA-F]+\}|.)/)) continue;
      stream.next();
    }
    if (quote.length === 1) state.string = null;
    return "string";
  }

  function opensString(stream, state) {
    const found = stream.match(/^([fr]?)("""|"|')/);
    if (!found) return false;
    const [, prefix, quote] = found;
    const plain = prefix === "r" || quote === "'" || (quote === '"""' && prefix !== "f");
    state.string = { quote, interpolates: !plain, escapes: prefix !== "r" };
    return true;
  }

  // Inside of {…} of a string: true if this token closes the interpolation.
  function closesInterpolation(stream, state) {
    const outer = state.outer[state.outer.length - 1];
    if (!outer) return false;
    if (stream.sol()) {
      state.outer = [];
      return false;
    }
    const next = stream.peek();
    if (next === "{") outer.depth++;
    if (next !== "}" || outer.depth-- > 0) return false;
    stream.next();
    state.outer.pop();
    state.string = outer.string;
    return true;
  }

  function nameToken(stream, state) {
    const word = stream.current();
    const role = state.defines;
    state.defines = null;
    if (state.member) {
      state.member = false;
      return /^\s*\(/.test(stream.string.slice(stream.pos)) ? "variableName.function" : "propertyName";
    }
    if (KEYWORDS.has(word)) {
      state.defines = DEFINES[word] || null;
      return word === "self" || word === "super" ? "variableName.special" : "keyword";
    }
    if (role === "def") return "variableName.definition.function";
    if (role === "class") return "className.definition";
    if (CONSTANTS.has(word)) return "atom";
    if (BUILTINS.has(word)) return "variableName.standard";
    return /^[A-Z]/.test(word) ? "typeName" : "variableName";
  }

  function token(stream, state) {
    if (state.comments > 0) return inComment(stream, state);
    if (state.string) return inString(stream, state);
    if (closesInterpolation(stream, state)) return "brace";
    if (stream.eatSpace()) return null;
    if (stream.sol() && stream.match(/^(%%?\w+|!).*/)) return "meta";
    if (stream.match(/^#\[[^\]]*\]/) || stream.match(/^@\[[^\]]*\]/)) return "meta";
    if (stream.match("/*")) {
      state.comments = 1;
      return inComment(stream, state);
    }
    if (stream.peek() === "#") {
      stream.skipToEnd();
      return "comment";
    }
    if (opensString(stream, state)) return inString(stream, state);
    if (!state.member && stream.match(NUMBER)) return "number";
    if (stream.match(/^@(?=[A-Za-z_][\w.]*)/) && stream.start === stream.indentation()) {
      stream.match(/^[\w.]+/);
      return "meta";
    }
    if (stream.match(NAME)) return nameToken(stream, state);
    if (stream.match("..=") || stream.match("...") || stream.match("..")) return "operator";
    state.member = stream.peek() === ".";
    if (stream.match(/^[+\-*\/%=<>!&|^~?@\\:]+/)) return "operator";
    return /[()\[\]{}]/.test(stream.next()) ? "bracket" : "punctuation";
  }

  const parser = {
    name: "simple",
    startState: () => ({ comments: 0, string: null, outer: [], member: false, defines: null }),
    copyState: (state) => ({ ...state, outer: state.outer.map((each) => ({ ...each })) }),
    token,
    indent: (state, _after, context) => (state.comments || state.string ? null : context.lineIndent(context.pos, -1)),
    languageData: {
      commentTokens: { line: "#", block: { open: "/*", close: "*/" } },
      closeBrackets: { brackets: ["(", "[", "{", "'", '"', '"""'] },
    },
  };

  // ---- the language of a cell: that of the notebook, or that of the magic in its first line

  const MAGICS = [[/^%%simple\b/, MIME], [/^%%python\b/, "text/x-ipython"]];

  function followMagics(model, fallback) {
    const update = () => {
      const first = model.sharedModel.getSource().split("\n", 1)[0];
      const found = MAGICS.find(([pattern]) => pattern.test(first));
      const wanted = found ? found[1] : model.mimeType === MIME || model.simpleMagic ? fallback() : null;
      model.simpleMagic = Boolean(found);
      if (wanted && model.mimeType !== wanted) model.mimeType = wanted;
    };
    model.sharedModel.changed.connect(update);
    model.mimeTypeChanged.connect(update);
    update();
  }

  function watchNotebook(panel) {
    const seen = new WeakSet();
    const scan = () => {
      for (const cell of panel.content.widgets) {
        if (cell.model.type === "code" && !seen.has(cell.model)) {
          seen.add(cell.model);
          followMagics(cell.model, () => panel.content.codeMimetype);
        }
      }
    };
    panel.content.modelContentChanged.connect(scan);
    panel.context.ready.then(scan);
    panel.revealed.then(scan);
  }

  // ---- the plugins

  const shared = {};

  async function sharedPackage(name) {
    const versions = shared.scope[name];
    if (!versions) throw new Error(`simple-torch: this JupyterLab does not share ${name}`);
    const newest = Object.keys(versions).sort().pop();
    return (await versions[newest].get())();
  }

  async function plugins() {
    const [language, codemirror, notebook] = await Promise.all(
      ["@codemirror/language", "@jupyterlab/codemirror", "@jupyterlab/notebook"].map(sharedPackage));
    return [
      {
        id: "simple-torch:language",
        description: "Highlights Simple in editors, and registers .spl files.",
        autoStart: true,
        requires: [codemirror.IEditorLanguageRegistry],
        activate: (app, languages) => {
          const support = new language.LanguageSupport(language.StreamLanguage.define(parser));
          languages.addLanguage({ name: "simple", displayName: "Simple", mime: MIME, extensions: ["spl"], support });
          app.docRegistry.addFileType({
            name: "simple", displayName: "Simple file", extensions: [".spl"], mimeTypes: [MIME],
            contentType: "file", fileFormat: "text",
          });
        },
      },
      {
        id: "simple-torch:magics",
        description: "Highlights %%simple and %%python cells in their language.",
        autoStart: true,
        requires: [notebook.INotebookTracker],
        activate: (_app, tracker) => {
          tracker.forEach(watchNotebook);
          tracker.widgetAdded.connect((_, panel) => watchNotebook(panel));
        },
      },
    ];
  }

  async function get(module) {
    if (module !== "./extension") throw new Error(`simple-torch: no module ${module}`);
    const exports = { __esModule: true, default: await plugins() };
    return () => exports;
  }

  function init(scope) {
    shared.scope = scope;
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["simple-torch"] = { get, init };
})();
