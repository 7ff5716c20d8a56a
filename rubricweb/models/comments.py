"""What people say to each other about an item, what waits to be read, and the lists they kept."""

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import Dataset, Item
from rubricweb.models.judgements import Judgement
from rubricweb.models.queues import ReviewQueue
from rubricweb.models.rubrics import Criterion
from rubricweb.models.teams import Team


class Comment(models.Model):
    """What somebody wrote on an item, on one criterion of it, or on one verdict.

    Markdown; @name or @"Shown Name" mentions a member. A removed comment keeps its place without its words.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="comments")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, null=True, related_name="comments")
    judgement = models.ForeignKey(Judgement, on_delete=models.SET_NULL, null=True, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="comments"
    )
    text = models.TextField()
    resolved = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [models.Index(fields=["item", "created_at"], name="comment_item")]

    def __str__(self) -> str:
        return self.text[:80]


class NoticeKind(models.TextChoices):
    MENTION = "mention", "mentioned you"
    REPLY = "reply", "answered where you had written"
    QUEUE = "queue", "asks you to review"


class Notice(models.Model):
    """Something for one person to read: shown in the app, sent by e-mail where that is configured."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="notices")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=20, choices=NoticeKind.choices)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, null=True, related_name="notices")
    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, null=True, related_name="notices")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    # Null until it was sent; stays null where no mail is configured or the person wants none.
    emailed_at = models.DateTimeField(null=True)
    # When sending it last failed; it is tried again some time after.
    email_tried_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=NoticeKind.values), name="notice_kind_known"),
            models.CheckConstraint(
                condition=models.Q(comment__isnull=False, queue__isnull=True)
                | models.Q(comment__isnull=True, queue__isnull=False),
                name="notice_about_one_thing",
            ),
            models.UniqueConstraint(
                fields=["user", "comment"],
                condition=models.Q(comment__isnull=False),
                name="notice_once_a_comment",
            ),
            models.UniqueConstraint(
                fields=["user", "queue"],
                condition=models.Q(queue__isnull=False),
                name="notice_once_a_queue",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "team"], condition=models.Q(read_at=None), name="notice_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"


class ViewKind(models.TextChoices):
    """Which list a saved view is of."""

    ITEMS = "items", "Items"
    RUNS = "runs", "Runs"
    INBOX = "inbox", "Disagreements"


class SavedView(models.Model):
    """A list as somebody narrowed it, under a name: theirs alone, or `shared` with the team.

    `query` is what its address says, a query string without a page. Only views of items have a dataset.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=ViewKind.choices)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="saved_views")
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=2000, blank=True)
    shared = models.BooleanField(default=False)
    # Stands above its list.
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "owner", "name"], name="saved_view_name_once"),
            models.CheckConstraint(
                condition=models.Q(kind="items", dataset__isnull=False)
                | models.Q(kind__in=["runs", "inbox"], dataset__isnull=True),
                name="saved_view_of_a_list",
            ),
        ]

    def __str__(self) -> str:
        return self.name
