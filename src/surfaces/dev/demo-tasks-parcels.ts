import type { Task } from "./demo-tasks.ts";

export const PARCELS: readonly Task[] = [
  {
    branch: "feat/third-carrier",
    device: 1,
    files: ["sync/carriers.py", "sync/run.py", "tests/test_carriers.py"],
    command: "python -m pytest tests/test_carriers.py -q",
    message: "Fetch parcels of a third carrier",
    sessions: [
      {
        on: 20,
        outcome: "success",
        prompts: [
          "Add a client for our third carrier after the pattern of the other two, tested against a recorded conversation.",
          "Map its states to ours; leave unknown ones as they are and log them.",
        ],
      },
    ],
  },
  {
    branch: "fix/carrier-timeouts",
    device: 1,
    files: ["sync/carriers.py", "sync/run.py", "tests/test_run.py"],
    command: "python -m pytest tests/test_run.py -q",
    message: "Give every carrier a deadline of its own",
    sessions: [
      {
        on: 17,
        outcome: "success",
        prompts: [
          "One slow carrier holds up the whole sync. Give each carrier its own deadline and carry on without it.",
          "Log which carrier was left out, once per run and not per parcel.",
        ],
      },
    ],
  },
  {
    branch: "docs/carrier-guide",
    device: 1,
    files: ["docs/carriers.md"],
    command: "python -m pytest -q",
    message: "Say how a carrier is added",
    sessions: [
      { on: 16, outcome: "success", prompts: ["Write down how a carrier is added, from what you did last week."] },
    ],
  },
  {
    branch: "refactor/carrier-clients",
    device: 1,
    files: ["sync/carriers.py", "sync/http.py", "tests/test_carriers.py"],
    command: "python -m pytest tests/test_carriers.py -q",
    message: "Share one HTTP session among carrier clients",
    sessions: [
      { on: 14, outcome: "partial", prompts: ["Three carrier clients build their requests three ways. Make it one."] },
      { on: 13, outcome: "success", prompts: ["Now the retries: they belong into the shared part too."] },
    ],
  },
  {
    branch: "chore/python-upgrade",
    device: 2,
    files: ["pyproject.toml", "sync/run.py"],
    command: "python -m pytest -q",
    message: "Run on the current Python",
    sessions: [
      {
        on: 12,
        outcome: "failure",
        prompts: ["Move to the current Python. All tests must pass without new warnings."],
      },
    ],
  },
  {
    branch: "feat/status-mails",
    device: 1,
    files: ["sync/status.py", "sync/mail.py", "tests/test_status.py"],
    command: "python -m pytest tests/test_status.py -q",
    message: "Tell customers when their parcel moves",
    sessions: [
      {
        on: 12,
        outcome: "success",
        prompts: ["Send a mail when a parcel leaves and when it arrives. Never the same mail twice."],
      },
    ],
  },
  {
    branch: "fix/status-order",
    device: 1,
    files: ["sync/status.py", "tests/test_status.py"],
    command: "python -m pytest tests/test_status.py -q",
    message: "Order carrier events by their own time",
    sessions: [
      {
        on: 10,
        outcome: "failure",
        prompts: ["Parcels jump back from delivered to in transit. Find out which carrier does it."],
      },
      {
        on: 10,
        outcome: "success",
        prompts: [
          "All of them send events out of order; sort by their time, not ours.",
          "And if two events have the same time, the further one along wins.",
        ],
      },
    ],
  },
  {
    branch: "feat/retry-failed",
    device: 1,
    files: ["sync/retry.py", "tests/test_retry.py"],
    command: "python -m pytest tests/test_retry.py -q",
    message: "Ask again for parcels that failed",
    sessions: [
      {
        on: 7,
        outcome: "success",
        prompts: ["Retry parcels whose carrier answered with an error, five times, with growing pauses."],
      },
    ],
  },
  {
    branch: "chore/retry-budget",
    device: 1,
    files: ["sync/retry.py", "sync/carriers.py", "tests/test_retry.py"],
    command: "python -m pytest tests/test_retry.py -q",
    message: "Share one retry budget in a run",
    sessions: [
      {
        on: 6,
        outcome: "success",
        prompts: [
          "Retries have no ceiling, and yesterday's outage made it worse. Put a budget on retries for a whole run.",
          "Show in the log how much of it was used.",
        ],
      },
    ],
  },
  {
    branch: "perf/sync-batches",
    device: 2,
    files: ["sync/run.py", "sync/store.py"],
    command: "python -m pytest tests/test_run.py -q",
    message: "Write parcels in batches",
    sessions: [
      {
        on: 4,
        outcome: "partial",
        prompts: ["A run writes each parcel by itself. Write 500 at a time and measure a full run."],
      },
    ],
  },
  {
    branch: "feat/label-reprint",
    device: 1,
    files: ["sync/labels.py", "sync/store.py", "tests/test_labels.py"],
    command: "python -m pytest tests/test_labels.py -q",
    message: "Keep bought labels for a day",
    sessions: [
      {
        on: 2,
        outcome: "success",
        prompts: ["Let the warehouse reprint a label for 24 hours without buying it again."],
      },
    ],
  },
  {
    branch: "fix/label-twice",
    device: 1,
    files: ["sync/labels.py", "tests/test_labels.py"],
    command: "python -m pytest tests/test_labels.py -q",
    message: "Note a purchase before it is made",
    sessions: [
      {
        on: 1,
        outcome: "failure",
        prompts: ["Two labels were bought for one parcel. Reproduce it with two presses of the button."],
      },
      {
        on: 0,
        outcome: "partial",
        prompts: ["Write the intent to buy first, with a key the carrier understands, and settle it afterwards."],
      },
    ],
  },
];
