import type { Repo } from "./demo-tasks.ts";

/** A lesson that came again is one class: its rule stands under several entries. */
export const RULES = {
  transaction:
    "whatever must be true together is written in one transaction, the marker of having done it included; never check first and write later.",
  zone: "cut days with the zone they belong to, never by adding 24 hours, and test the two days a year on which clocks change.",
  deadline: "every call to another company's service has a deadline, and the run goes on without whoever misses it.",
  money: "money is rounded once, at the end, and every place that shows it calls the same function.",
  order: "sort what others report by the time they give, and decide in the code who wins when two times are equal.",
} as const;

/** A defect, as agents note it down in `errors.md`. */
export interface Lesson {
  readonly repo: Repo;
  /** Working days before the start on which it was found. */
  readonly on: number;
  /** What its heading begins with while it is open. */
  readonly mark?: "⌛" | "⚠";
  readonly title: string;
  readonly file: string;
  /** The branch whose commit brought it in, where the entry names the commit; otherwise it names the file alone. */
  readonly from?: string;
  readonly broke: string;
  readonly cause: string;
  readonly fix?: string;
  /** A Status line. */
  readonly status?: string;
  readonly rule?: keyof typeof RULES;
}

export const LESSONS: readonly Lesson[] = [
  {
    repo: "shop",
    on: 19,
    title: "Cart total a cent off with two discounts",
    file: "src/cart/totals.ts",
    from: "feat/second-discount",
    broke: "Orders with a voucher and a quantity discount were charged one cent more than the cart had shown.",
    cause: "each discount rounded for itself, so the errors added up.",
    fix: "discounts are summed as fractions and rounded at the end.",
    rule: "money",
  },
  {
    repo: "shop",
    on: 16,
    title: "Payment event taken twice",
    file: "src/payment/webhook.ts",
    from: "feat/payment-webhooks",
    broke: "A retry by the payment provider confirmed an order a second time and sent a second mail.",
    cause: "the event id was stored after the order had changed, in another transaction.",
    fix: "event id and order change share a transaction; a unique index refuses the second.",
    status: "fixed",
    rule: "transaction",
  },
  {
    repo: "shop",
    on: 13,
    title: "Report lost an hour",
    file: "src/report/days.ts",
    from: "feat/daily-report",
    broke: "The sales of the last Sunday in March were short by what was sold between two and three.",
    cause: "days were made by adding 24 hours to midnight.",
    fix: "days are cut by calendar in the shop's zone.",
    rule: "zone",
  },
  {
    repo: "shop",
    on: 10,
    title: "Invoice and cart disagree",
    file: "src/invoice/lines.ts",
    broke: "The invoice showed a total one cent below what was paid.",
    cause: "the invoice had a rounding of its own.",
    fix: "it calls the function of the cart.",
    rule: "money",
  },
  {
    repo: "shop",
    on: 8,
    title: "Stock reserved for ever",
    file: "src/stock/reserve.ts",
    from: "feat/stock-reservation",
    broke: "Twelve articles showed as sold out although nobody had bought them.",
    cause: "the reservation was written before the payment was opened; a restart in between left it without an end.",
    fix: "a reservation carries its end and is written with the payment.",
    status: "fixed",
    rule: "transaction",
  },
  {
    repo: "shop",
    on: 4,
    title: "Voucher used twice by two tabs",
    file: "src/checkout/voucher.ts",
    from: "feat/voucher-once",
    broke: "A voucher for one use was redeemed in two tabs within a second.",
    cause: "the check that it was unused and the mark that it is used were two statements.",
    fix: "one update that changes a row only while it is unused.",
    rule: "transaction",
  },
  {
    repo: "shop",
    on: 2,
    mark: "⌛",
    title: "Facet counts differ from the list",
    file: "src/search/facets.ts",
    broke: "The facet says 14, the list behind it has 13. Seen with products that have two sizes.",
    cause: "not known yet. Suspicion: a product is counted once for each of its sizes.",
  },
  {
    repo: "shop",
    on: 1,
    title: "Delivery date one day early",
    file: "src/delivery/promise.ts",
    from: "feat/delivery-date",
    broke: "Orders after 23:00 promise a delivery date that has no working day before it.",
    cause: "the cut-off is compared in UTC.",
    status: "open",
    rule: "zone",
  },
  {
    repo: "parcels",
    on: 18,
    title: "Sync stands still behind one carrier",
    file: "sync/carriers.py",
    from: "feat/third-carrier",
    broke: "No parcel of any carrier was updated for 40 minutes.",
    cause: "one carrier accepted connections and never answered; the client waits without end by default.",
    fix: "ten seconds for each call, a minute for each carrier.",
    rule: "deadline",
  },
  {
    repo: "parcels",
    on: 10,
    title: "Delivered parcels went back to in transit",
    file: "sync/status.py",
    from: "feat/status-mails",
    broke: "Customers got a second mail about parcels that lay on their table.",
    cause: "events were applied in the order in which they arrived.",
    fix: "they are sorted by the carrier's time; the further state wins a tie.",
    rule: "order",
  },
  {
    repo: "parcels",
    on: 6,
    title: "Retries made an outage worse",
    file: "sync/retry.py",
    from: "feat/retry-failed",
    broke: "A carrier that had come back was asked 30,000 times in a minute.",
    cause: "each parcel retried by itself, without a deadline for the run.",
    fix: "one budget for a run, and the carrier is left out once it is used up.",
    rule: "deadline",
  },
  {
    repo: "parcels",
    on: 1,
    mark: "⚠",
    title: "Label bought twice",
    file: "sync/labels.py",
    from: "feat/label-reprint",
    broke: "Two labels were bought for one parcel when the warehouse pressed the button again.",
    cause: "the label is stored after the purchase.",
    status: "in progress",
    rule: "transaction",
  },
];
