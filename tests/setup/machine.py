"""A user's machine in a temporary folder: home, project, HOLDFAST_HOME; install and leave there."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.setup import wiring
from holdfast.setup.install import InstallPlan, apply, plan_install, plan_uninstall
from holdfast.setup.receipts import our_packages
from holdfast.setup.targets import Target, settings_target


def all_hooks() -> list[tuple[str, str]]:
    """Every event with each command that an install writes for it."""
    return [
        (event, hook["command"])
        for event, groups in wiring.hook_table().items()
        for group in groups
        for hook in group["hooks"]
    ]


@dataclass(frozen=True)
class Desk:
    home: Path
    project: Path
    ours: Path

    @property
    def settings(self) -> Path:
        return self.home / ".claude" / "settings.json"

    @property
    def skill(self) -> Path:
        return self.home / ".claude" / "commands" / "holdfast" / "status.md"

    def target(self, scope: str = "user") -> Target:
        packages = our_packages(self.ours)
        return settings_target(scope, self.home, self.project, packages)

    def write(self, data: bytes) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_bytes(data)

    def install(self, scope: str = "user", *, force: bool = False) -> InstallPlan:
        plan = plan_install(self.target(scope), self.home, self.ours, force=force)
        apply(plan)
        return plan

    def uninstall(self, scope: str = "user") -> InstallPlan:
        plan = plan_uninstall(self.target(scope), self.home, self.ours)
        apply(plan)
        return plan

    def tree(self) -> dict[str, bytes | None]:
        """Every file and folder of the home and the project, our own folder left out."""
        paths = [*self.home.rglob("*"), *self.project.rglob("*")]
        return {str(path): path.read_bytes() if path.is_file() else None for path in paths}
