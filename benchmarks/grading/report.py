"""What a benchmark prints: lines as they come, and which promises missed."""

from dataclasses import dataclass, field


@dataclass
class Report:
    missed: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def line(self, text: str) -> None:
        print(f"  {text}", flush=True)

    def promise(self, text: str, holds: bool) -> None:
        self.line(f"{text}: {'holds' if holds else 'misses'}")
        if not holds:
            self.missed.append(text)
