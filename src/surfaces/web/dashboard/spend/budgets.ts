import * as v from "valibot";
import { listMembers } from "../../../../identity/members/members.ts";
import {
  type BudgetStanding,
  budgetStandings,
  DEFAULT_THRESHOLDS,
  MAX_USD,
  PERIODS,
  removeBudget,
  SCOPES,
  setBudget,
} from "../../../../insight/budgets/budgets.ts";
import { freshenSpend, spendReportInSlices } from "../../../../insight/spend/spend.ts";
import { type Owner, ownersOf } from "../../../../insight/triage/triage.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import type { Option } from "../../ui/field.ts";
import { type FormError, formSpec, trimmed, typed } from "../../ui/form-spec.ts";
import { type Column, table } from "../../ui/list.ts";
import { badge, empty, none, pageHead, type Stat, section } from "../../ui/parts.ts";
import { dayText, number, shortDay } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin, type Member } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { repoLink, repoName, repoShort } from "../shared/links.ts";
import { ID, readParams } from "../shared/params.ts";
import { moreMembers, personName } from "../shared/people.ts";
import { reposTold } from "../shared/repositories.ts";
import { short } from "../shared/text.ts";
import { budgetBar } from "./budget-bar.ts";
import { modelName } from "./chart.ts";
import { dollars } from "./labels.ts";

/** Budgets: what is to be spent at most, how much of it is used, and what it comes to by the period's end. */

const PATH = "/spend/budgets";

const METHOD = html`<p>The forecast takes what was spent so far for each working day of the period that went by, times those that are left. A day of a weekend counts as much of a working day as it did in the four weeks before. In the first three working days of a month, or the first of a week, it is too early to say.</p><p>Amounts are at list prices; tokens without a price are not in them. A threshold that is reached is recorded once a period.</p>`;

const WRONG_AMOUNT = "Give an amount in dollars such as 500 or 49.90.";
const amount = v.pipe(
  trimmed,
  v.regex(/^\$?\d{1,8}(?:\.\d{1,2})?$/, WRONG_AMOUNT),
  v.transform((text) => Number(text.replace("$", ""))),
  v.check((usd) => usd >= 0.01 && usd <= MAX_USD, WRONG_AMOUNT),
);
const WRONG_PERCENT = "Give percentages such as 80, 100.";
const percentages = v.pipe(
  trimmed,
  v.regex(/^\d{1,4}(?:[\s,]+\d{1,4}){0,4}$/, WRONG_PERCENT),
  v.transform((text) => text.split(/[\s,]+/).map(Number)),
  v.check((list) => list.every((one) => one >= 1 && one <= 1_000), WRONG_PERCENT),
);
/** `repo:KEY`, `person:ID`, `model:NAME`, or `team:`. */
const subject = v.pipe(
  typed,
  v.transform((text) => {
    const at = text.indexOf(":");
    return { scope: SCOPES.find((one) => one === text.slice(0, at)), subject: text.slice(at + 1) };
  }),
  v.check(({ scope }) => scope !== undefined, "Choose what the budget is of."),
);

const BUDGET = formSpec({
  of: { kind: "select", label: "Budget of", options: [], schema: subject },
  period: {
    kind: "select",
    label: "For each",
    options: PERIODS.map((value) => ({ value, label: value })),
    schema: v.picklist(PERIODS, "Choose week or month."),
  },
  usd: { kind: "text", label: "Amount ($)", required: true, placeholder: "500", schema: amount },
  at: { kind: "text", label: "Notify at (%)", required: true, hint: "Percentages, up to five.", schema: percentages },
});

/** The subjects that a budget can have. */
async function subjects(call: Member): Promise<Option[]> {
  const { core, session } = call;
  const team = session.team.id;
  const now = core.clock.now();
  const { groups: models } = await spendReportInSlices(core, team, { from: now - 90 * DAY_MS, to: now, by: "model" });
  return [
    { value: "team:", label: "The whole team" },
    ...[...reposTold(core, team)]
      .sort()
      .map((key) => ({ value: `repo:${key}`, label: `Repository ${short(repoName(key), 80)}` })),
    ...(await listMembers(core, team)).map(({ userId, ...one }) => ({
      value: `person:${userId}`,
      label: `Person ${personName(one)}`,
    })),
    ...moreMembers(call, "reckon budget set --person"),
    ...models.slice(0, 100).map(({ key }) => ({ value: `model:${key}`, label: `Model ${modelName(key)}` })),
  ];
}

const LOOKS = { "on track": "good", "will exceed": "warn", exceeded: "bad", early: "neutral" } as const;

function stateOf({ state, exceedsOn }: BudgetStanding): Content {
  if (state === "early") return badge("neutral", "too early");
  return badge(LOOKS[state], exceedsOn === null ? state : `used up ${shortDay(exceedsOn)}`);
}

function subjectOf(
  call: Member,
  { scope, subject: name }: BudgetStanding,
  people: ReadonlyMap<string, Owner>,
): Content {
  if (scope === "team") return "Whole team";
  if (scope === "repo") return repoLink(call, name, repoShort(name));
  if (scope === "model") return modelName(name);
  const person = people.get(name);
  return short(person ? personName(person) : name, 60);
}

/** @param last a column of its own, e.g. of buttons */
function budgetTable(call: Member, rows: readonly BudgetStanding[], last: Column<BudgetStanding> | false): Html {
  const people = ownersOf(
    call.core,
    rows.map(({ subject: name }) => name),
  );
  return table({
    caption: "Budgets",
    dense: true,
    columns: [
      { label: "Budget of", heading: true, grow: true, cell: (one) => subjectOf(call, one, people) },
      {
        label: "Period",
        cell: ({ period, from, to }) => html`<span title="${dayText(from)} to ${dayText(to)}">this ${period}</span>`,
      },
      { label: "Use", cell: budgetBar },
      {
        label: "Used",
        numeric: true,
        cell: ({ usedUsd, amountUsd }) =>
          html`${dollars(usedUsd)}<span class="muted"> · ${usedShare(usedUsd, amountUsd)}</span>`,
      },
      { label: "Budget", numeric: true, named: true, cell: ({ amountUsd }) => dollars(amountUsd) },
      {
        label: "Forecast",
        numeric: true,
        named: true,
        cell: ({ forecastUsd }) => (forecastUsd === null ? none : dollars(forecastUsd)),
      },
      { label: "State", cell: stateOf },
      last,
    ],
    rows,
    empty: empty({
      title: "No budgets",
      intro: isAdmin(call)
        ? "Set one for the team, a repository, a person or a model."
        : "Owners and admins of the team set them.",
    }),
  });
}

/** Rounded down: a budget is not used up a cent too early. */
const usedShare = (usedUsd: number, amountUsd: number) => `${number(Math.floor((usedUsd / amountUsd) * 100))} %`;

/** How much of the team's own budget is used, and when it is used up; nothing where it has none. */
export async function budgetStat(call: Member): Promise<Stat[]> {
  const [one] = (await budgetStandings(call.core, call.session.team.id)).filter(({ scope }) => scope === "team");
  if (!one) return [];
  const { usedUsd, amountUsd, exceedsOn, state, period } = one;
  return [
    {
      label: `Budget, this ${period}`,
      value: usedShare(usedUsd, amountUsd),
      sub: `of ${dollars(amountUsd)}, ${exceedsOn === null ? (state === "early" ? "too early to say how it goes" : state) : `used up on ${dayText(exceedsOn)}`}`,
      href: "#budgets",
      tone: LOOKS[state] === "neutral" ? undefined : LOOKS[state],
    },
  ];
}

/** On the page of spend: where budgets stand; nothing for those who have none and can set none. */
export async function budgetsSection(call: Member): Promise<Content> {
  const rows = await budgetStandings(call.core, call.session.team.id);
  if (rows.length === 0 && !isAdmin(call)) return "";
  const all = buttonLink(isAdmin(call) ? "Manage budgets" : "All budgets", call.href(PATH), { small: true });
  return section({
    id: "budgets",
    title: "Budgets",
    help: METHOD,
    actions: all,
    body: rows.length === 0 ? html`<p class="says">No budgets yet.</p>` : budgetTable(call, rows.slice(0, 5), false),
  });
}

async function budgetsPage(call: Member, error?: FormError): Promise<Html> {
  const { core, session, csrf, href } = call;
  await freshenSpend(core);
  const rows = await budgetStandings(core, session.team.id);
  const remove: Column<BudgetStanding> = {
    label: "Remove",
    hidden: true,
    cell: ({ id }) =>
      confirmButton(
        { csrf, href },
        {
          action: `${PATH}/remove`,
          label: "Remove",
          question: "Remove this budget? What it recorded stays in the audit.",
          confirm: "Remove budget",
          hidden: { id },
          small: true,
        },
      ),
  };
  const main = html`${pageHead({
    title: "Budgets",
    help: METHOD,
    crumbs: [{ label: "Spend", href: href("/spend") }, { label: "Budgets" }],
  })}
${budgetTable(call, rows, isAdmin(call) && remove)}
${
  isAdmin(call) &&
  section({
    title: "Set a budget",
    intro: "A budget for the same scope replaces the present one.",
    framed: true,
    body: BUDGET.draw(call, {
      action: PATH,
      values: { of: "team:", period: "month", at: DEFAULT_THRESHOLDS.join(", ") },
      submit: "Set budget",
      error,
      vary: { of: { options: await subjects(call) } },
    }),
  })
}`;
  return frame(call, { title: "Budgets", main, wide: true });
}

function set(call: PageCall<"admin">) {
  return handleForm(
    call,
    BUDGET,
    async ({ of, period, usd, at }) => {
      const { scope = "team", subject: name } = of;
      await setBudget(
        call.core,
        call.session.team.id,
        { scope, subject: name, period, amountUsd: usd, thresholds: at },
        by(call),
      );
      return redirect(PATH, "The budget is set.");
    },
    (error) => budgetsPage(call, error),
  );
}

async function remove(call: PageCall<"admin">) {
  const { id } = readParams(ID, call.form);
  await removeBudget(call.core, call.session.team.id, id, by(call));
  return redirect(PATH, "The budget is removed.");
}

export const budgetPages = [
  page({ id: "budgets", method: "GET", path: PATH, access: "member" }, (call) => budgetsPage(call)),
  page({ id: "setBudget", method: "POST", path: PATH, access: "admin" }, set),
  page({ id: "removeBudget", method: "POST", path: `${PATH}/remove`, access: "admin" }, remove),
];
