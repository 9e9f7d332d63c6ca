import type { Task } from "./demo-tasks.ts";

export const SHOP: readonly Task[] = [
  {
    branch: "feat/second-discount",
    device: 0,
    files: ["src/cart/totals.ts", "src/cart/discounts.ts", "test/cart/totals.test.ts"],
    command: "npm test -- cart",
    message: "Let a voucher and a quantity discount apply together",
    sessions: [
      {
        on: 20,
        outcome: "success",
        prompts: [
          "Let a voucher and a quantity discount apply to the same cart. The voucher comes last.",
          "Show both in the cart, each with its amount.",
        ],
      },
    ],
  },
  {
    branch: "fix/cart-rounding",
    device: 0,
    files: ["src/cart/totals.ts", "src/cart/money.ts", "test/cart/totals.test.ts"],
    command: "npm test -- cart",
    message: "Round once, after all discounts",
    sessions: [
      {
        on: 19,
        outcome: "success",
        prompts: [
          "The cart total is a cent off when two discounts apply. Find out why and fix it, with a test that fails first.",
          "Good. Say in the test why half-up is right here.",
        ],
      },
    ],
  },
  {
    branch: "feat/payment-webhooks",
    device: 1,
    files: ["src/payment/webhook.ts", "src/payment/events.ts", "test/payment/webhook.test.ts"],
    command: "npm test -- payment",
    message: "Confirm orders by the payment provider's webhooks",
    sessions: [
      {
        on: 18,
        outcome: "partial",
        prompts: [
          "Take the payment provider's webhooks and confirm the order. Check the signature over the raw bytes, before anything is parsed.",
          "The signature test passes with a wrong key. Look again.",
        ],
      },
      {
        on: 18,
        outcome: "success",
        prompts: ["Go on with the webhooks: store the ids of events that were handled, and skip those."],
      },
    ],
  },
  {
    branch: "chore/upgrade-router",
    device: 0,
    files: ["package.json", "src/api/orders.ts", "src/api/products.ts"],
    command: "npm run types",
    message: "Move to the router's new parameter syntax",
    sessions: [
      {
        on: 17,
        outcome: "abandoned",
        prompts: [
          "Upgrade the router to the next major version. Read its migration notes first and list what touches us.",
        ],
      },
      {
        on: 14,
        outcome: "success",
        prompts: [
          "Second attempt at the router: change the parameter syntax in all routes, nothing else.",
          "Types are green. Now run everything.",
        ],
      },
    ],
  },
  {
    branch: "fix/webhook-replay",
    device: 1,
    files: ["src/payment/webhook.ts", "src/payment/events.ts", "migrations/0037-payment-events.sql"],
    command: "npm test -- payment",
    message: "Take each payment event once, in the order's transaction",
    sessions: [
      {
        on: 16,
        outcome: "success",
        prompts: [
          "Payment webhooks are processed twice when the provider retries quickly. Make the handler idempotent.",
          "Store the event id in the same transaction as the order change, not before it.",
          "Add the test with two deliveries at the same time.",
        ],
      },
    ],
  },
  {
    branch: "feat/daily-report",
    device: 0,
    files: ["src/report/days.ts", "src/report/route.ts", "test/report/days.test.ts"],
    command: "npm test -- report",
    message: "Report sales by day",
    sessions: [
      {
        on: 15,
        outcome: "success",
        prompts: ["Build a report of sales by day, for any month, for each of the zones we sell in."],
      },
    ],
  },
  {
    branch: "fix/timezone-report",
    device: 0,
    files: ["src/report/days.ts", "test/report/days.test.ts"],
    command: "npm test -- report",
    message: "Cut report days by the shop's zone, not by 24 hours",
    sessions: [
      {
        on: 13,
        outcome: "failure",
        prompts: [
          "The daily sales report of the last Sunday of March misses an hour. Fix it for every zone we sell in.",
        ],
      },
      {
        on: 13,
        outcome: "success",
        prompts: [
          "Your last change only moved the hole. Write the test for both days of the year on which clocks change first.",
          "Now cut the days by calendar.",
        ],
      },
    ],
  },
  {
    branch: "feat/invoice-pdf",
    device: 1,
    files: ["src/invoice/lines.ts", "src/invoice/pdf.ts", "test/invoice/lines.test.ts"],
    command: "npm test -- invoice",
    message: "Send an invoice with every order",
    sessions: [
      {
        on: 12,
        outcome: "partial",
        prompts: [
          "Make an invoice as PDF for every paid order. Lines, tax by rate, total.",
          "The tax rows need the rate.",
        ],
      },
      {
        on: 11,
        outcome: "success",
        prompts: ["Attach the invoice to the confirmation mail and keep it for ten years."],
      },
    ],
  },
  {
    branch: "refactor/address-form",
    device: 0,
    files: ["src/checkout/address.ts", "src/checkout/fields.ts", "test/checkout/address.test.ts"],
    command: "npm test -- checkout",
    message: "Validate an address field when it is left",
    sessions: [
      {
        on: 11,
        outcome: "partial",
        prompts: [
          "The address form validates on every key. Validate when a field is left, and keep what the customer typed on an error.",
        ],
      },
      {
        on: 10,
        outcome: "success",
        prompts: [
          "Also announce the error to screen readers.",
          "One live region for the form, not one for each field.",
        ],
      },
    ],
  },
  {
    branch: "fix/invoice-total",
    device: 1,
    files: ["src/invoice/lines.ts", "src/cart/money.ts", "test/invoice/lines.test.ts"],
    command: "npm test -- invoice",
    message: "Count invoice totals with the cart's function",
    sessions: [
      {
        on: 9,
        outcome: "success",
        prompts: [
          "Invoices are sometimes a cent below what was paid. Use the cart's rounding and delete the other one.",
        ],
      },
    ],
  },
  {
    branch: "feat/stock-reservation",
    device: 0,
    files: ["src/stock/reserve.ts", "src/checkout/payment.ts", "test/stock/reserve.test.ts"],
    command: "npm test -- stock",
    message: "Reserve stock while somebody pays",
    sessions: [
      {
        on: 9,
        outcome: "success",
        prompts: [
          "Reserve stock for fifteen minutes when somebody begins to pay, and release it afterwards.",
          "What if two people pay for the last one? Show me the test.",
        ],
      },
    ],
  },
  {
    branch: "fix/stock-release",
    device: 0,
    files: ["src/stock/reserve.ts", "src/stock/sweep.ts", "test/stock/reserve.test.ts"],
    command: "npm test -- stock",
    message: "Give every reservation an end",
    sessions: [
      {
        on: 8,
        outcome: "failure",
        prompts: ["Twelve articles are reserved for nobody. Release what a restart left behind when the shop starts."],
      },
      {
        on: 8,
        outcome: "success",
        prompts: [
          "Releasing on start is wrong: we never restart on a good day. Give each reservation its end and let a sweep remove what is over.",
          "What happens when the process stops between reserving and paying? Write that test.",
        ],
      },
    ],
  },
  {
    branch: "perf/image-sizes",
    device: 1,
    files: ["src/media/sizes.ts", "src/media/route.ts"],
    command: "npm run bench -- media",
    message: "Serve images in the widths that pages ask for",
    sessions: [
      {
        on: 7,
        outcome: "success",
        prompts: [
          "Product pages ship images four times too large on phones. Serve sizes by width, and measure before and after.",
        ],
      },
    ],
  },
  {
    branch: "test/checkout-end-to-end",
    device: 2,
    files: ["test/checkout/journey.test.ts", "test/support/browser.ts"],
    command: "npm test -- journey",
    message: "Walk through a checkout in a browser",
    sessions: [
      {
        on: 7,
        outcome: "partial",
        prompts: ["Write one browser test that buys an article, from the search to the mail."],
      },
      {
        on: 4,
        outcome: "success",
        prompts: [
          "The journey test fails one time in ten. Find what it does not wait for; no sleeps.",
          "Run it fifty times.",
        ],
      },
    ],
  },
  {
    branch: "feat/voucher-once",
    device: 0,
    files: ["src/checkout/voucher.ts", "src/checkout/payment.ts", "test/checkout/voucher.test.ts"],
    command: "npm test -- voucher",
    message: "Sell vouchers that work once",
    sessions: [
      { on: 6, outcome: "success", prompts: ["Add vouchers that can be used once. Say so when one was used before."] },
    ],
  },
  {
    branch: "feat/search-facets",
    device: 1,
    files: ["src/search/facets.ts", "src/search/query.ts", "test/search/facets.test.ts"],
    command: "npm test -- search",
    message: "Add facets for colour and size",
    sessions: [
      {
        on: 5,
        outcome: "partial",
        prompts: [
          "Add facets for colour and size to the product search. Counts must reflect the other filters that are set.",
        ],
      },
      {
        on: 5,
        outcome: "success",
        prompts: ["Keep a facet's own choices out of its own count.", "And hide the ones that would find nothing."],
      },
    ],
  },
  {
    branch: "fix/voucher-race",
    device: 0,
    files: ["src/checkout/voucher.ts", "test/checkout/voucher.test.ts"],
    command: "npm test -- voucher",
    message: "Redeem a voucher by one conditional update",
    sessions: [
      {
        on: 4,
        outcome: "success",
        prompts: [
          "One voucher was redeemed in two tabs within a second. Write the test with two requests at once, then fix it.",
          "No lock. The update itself must decide.",
        ],
      },
    ],
  },
  {
    branch: "perf/facet-index",
    device: 1,
    files: ["src/search/facets.ts", "migrations/0041-facet-index.sql"],
    command: "npm run bench -- search",
    message: "Count facets in one pass over the filtered set",
    sessions: [
      {
        on: 3,
        outcome: "success",
        prompts: [
          "The facet count is slow on the staging catalogue. Look at its plan before you change anything.",
          "Keep the index, but describe it in the migration.",
        ],
      },
    ],
  },
  {
    branch: "feat/delivery-date",
    device: 0,
    files: ["src/delivery/promise.ts", "src/checkout/summary.ts", "test/delivery/promise.test.ts"],
    command: "npm test -- delivery",
    message: "Promise a delivery date in the checkout",
    sessions: [
      {
        on: 3,
        outcome: "success",
        prompts: ["Show a delivery date in the checkout. Orders before 23:00 leave the next working day."],
      },
    ],
  },
  {
    branch: "chore/dependency-round",
    device: 2,
    files: ["package.json", "package-lock.json"],
    command: "npm test",
    message: "Take this month's updates",
    sessions: [
      {
        on: 2,
        outcome: "success",
        prompts: ["Update all dependencies within their majors. One commit, with what changed for us."],
      },
    ],
  },
  {
    branch: "fix/facet-counts",
    device: 1,
    files: ["src/search/facets.ts", "test/search/facets.test.ts"],
    command: "npm test -- search",
    message: "Pin down the facet that counts too much",
    sessions: [
      {
        on: 1,
        outcome: "partial",
        prompts: [
          "A facet says 14 and its list has 13. Find a product that makes it so, and write the test; no fix yet.",
        ],
      },
      {
        on: 0,
        outcome: "abandoned",
        prompts: ["Count distinct products instead of sizes, and compare the query's plan."],
      },
    ],
  },
  {
    branch: "fix/delivery-cutoff",
    device: 0,
    files: ["src/delivery/promise.ts", "test/delivery/promise.test.ts"],
    command: "npm test -- delivery",
    message: "Compare the cut-off in the shop's zone",
    sessions: [
      {
        on: 0,
        outcome: "success",
        prompts: [
          "Late orders promise a date that is a day early. The cut-off must be compared in the shop's zone.",
          "Add the test for the night on which clocks change.",
        ],
      },
    ],
  },
];
