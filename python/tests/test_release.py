"""The workflows that publish name the packages that there are, and all have one version. A wheel in the folder TILEWRIGHT_WHEEL is tried."""

import importlib.util
import os
import pathlib
import re

import pytest
import tilewright

ROOT = pathlib.Path(__file__).parents[2]
tomllib = pytest.importorskip("tomllib")
yaml = pytest.importorskip("yaml")


def toml(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def workflow(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))


def steps(name):
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


WORKSPACE = toml("Cargo.toml")["workspace"]
MANIFESTS = {toml(f"{member}/Cargo.toml")["package"]["name"]: toml(f"{member}/Cargo.toml") for member in WORKSPACE["members"]}
VERSION = WORKSPACE["package"]["version"]
KEPT = {name for name, manifest in MANIFESTS.items() if manifest["package"].get("publish") is False}


def needed(manifest):
    """What a published crate needs of the workspace: those of its tests only where they have a version."""
    tables = [manifest, *manifest.get("target", {}).values()]
    for kind in ("dependencies", "build-dependencies", "dev-dependencies"):
        for table in tables:
            for name, value in table.get(kind, {}).items():
                if name in MANIFESTS and not (kind == "dev-dependencies" and isinstance(value, dict) and "path" in value and "version" not in value):
                    yield name


def test_one_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION) and tilewright.__version__ == VERSION
    assert all(manifest["package"]["version"] == {"workspace": True} for manifest in MANIFESTS.values())
    for name, value in WORKSPACE["dependencies"].items():
        if name in MANIFESTS:
            assert value["version"] == VERSION, name
    assert toml("python/pyproject.toml")["project"]["dynamic"] == ["version"]


@pytest.mark.parametrize("text", [lambda: workflow("crates.yml")["env"]["PACKAGES"], lambda: (ROOT / ".ci" / "run").read_text(encoding="utf-8").split("\npackages() {")[1].split("\n}")[0]])
def test_crates_that_are_published(text):
    assert set(re.findall(r"--exclude (\S+)", text())) == KEPT
    assert {"tilewright", "tilewright-cli", "tilewright-core"} <= set(MANIFESTS) - KEPT


def test_crates_have_an_order():
    left = {name: set(needed(manifest)) for name, manifest in MANIFESTS.items() if name not in KEPT}
    while left:
        ready = {name for name, needs in left.items() if not needs & set(left)}
        assert ready, f"these crates need each other: {sorted(left)}"
        left = {name: needs for name, needs in left.items() if name not in ready}
    for name, manifest in MANIFESTS.items():
        assert name in KEPT or not set(needed(manifest)) & KEPT
        assert name in KEPT or {"description", "license", "rust-version"} <= set(manifest["package"])


def test_the_crates_compiler_is_new_enough():
    (least,) = {re.search(r"rustup default ([\d.]+)", step["run"])[1] for step in steps("crates.yml") if "rustup" in step.get("run", "")}
    as_numbers = lambda version: [int(part) for part in version.split(".")]  # noqa: E731
    # Whole workspaces are published since 1.90.
    assert as_numbers(least) >= max([1, 90], as_numbers(WORKSPACE["package"]["rust-version"]))


def test_wheels():
    jobs = workflow("release.yml")["jobs"]
    targets = {row["target"]: row for row in jobs["wheels"]["strategy"]["matrix"]["include"]}
    assert {target for target, row in targets.items() if row.get("manylinux") == "2_28"} == {target for target in targets if "linux" in target} == {f"{machine}-unknown-linux-gnu" for machine in ("x86_64", "aarch64")}
    assert any("darwin" in target for target in targets) and any("windows" in target for target in targets)
    project = toml("python/pyproject.toml")
    for step in steps("release.yml"):
        if "maturin-action" in step.get("uses", ""):
            assert "--manifest-path python/Cargo.toml" in step["with"]["args"]
            # The build that pip makes uses the same.
            least, below = re.search(r"maturin>=([\d.]+),<(\d+)", project["build-system"]["requires"][0]).groups()
            assert [int(part) for part in least.split(".")] <= [int(part) for part in step["with"]["maturin-version"].lstrip("v").split(".")] < [int(below)]
        for path in re.findall(r"\S+\.py\b", step.get("run", "")):
            assert (ROOT / path).is_file(), path
        if "setup-python" in step.get("uses", ""):
            assert project["project"]["requires-python"] == f">={step['with']['python-version']}"
    assert "abi3-py310" in MANIFESTS["tilewright-python"]["dependencies"]["pyo3"]["features"]
    systems = " ".join(project["project"]["classifiers"])
    assert "Linux" in systems and "MacOS" in systems and "Windows" in systems


@pytest.mark.parametrize("name", ["release.yml", "crates.yml"])
def test_only_tags_are_published_and_nothing_has_a_token(name):
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    assert "secrets." not in text
    jobs = workflow(name)["jobs"]
    for job, content in jobs.items():
        assert ("id-token" in content.get("permissions", {})) == (job == "publish")
    assert jobs["publish"]["if"] == "${{ github.ref_type == 'tag' }}" and jobs["publish"]["environment"]
    needs = jobs["publish"]["needs"]
    assert set([needs] if isinstance(needs, str) else needs) == set(jobs) - {"publish"}


def test_a_wheel(tmp_path):
    if "TILEWRIGHT_WHEEL" not in os.environ:
        pytest.skip("TILEWRIGHT_WHEEL names no folder with a wheel")
    specification = importlib.util.spec_from_file_location("try_wheel", ROOT / "scripts" / "try_wheel.py")
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    script.compute(script.check(pathlib.Path(os.environ["TILEWRIGHT_WHEEL"])), tmp_path)
