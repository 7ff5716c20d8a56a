"""`manage migrate`: Django's own, on no database of a newer release."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate

from rubricweb.errors import Conflict
from rubricweb.management.terminal import prepare


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare.migration_executor()
        except Conflict as error:
            raise CommandError(str(error)) from error
        super().handle(*args, **options)
