import { expect, it } from "vitest";
import {
  deleteView,
  isSameQuery,
  listViews,
  saveView,
  viewErasure,
} from "../../../src/identity/saved-views/saved-views.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance } from "../../support/instance.ts";

it("keeps fifty views of a person at most, under bounded names, and forgets them with the person or what they name", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const { id: team } = await t.team();
  const user = (email: string) =>
    makeAccount(core, {
      email,
      name: null,
      operator: false,
      team: { id: team, role: "member" },
    });
  const [ada, bob] = [await user("ada@example.com"), await user("bob@example.com")];
  const view = {
    place: "/sessions",
    name: "One",
    query: "repo=github.com%2Fa%2Fb&cursor=x&agent=",
    shared: true,
  } as const;
  const saved = await saveView(core, team, ada.id, view, COMMAND_LINE);
  expect(saved).toMatchObject({ query: "repo=github.com%2Fa%2Fb", shared: true });
  await saveView(core, team, ada.id, { ...view, query: "a=1" }, COMMAND_LINE);
  expect(listViews(core, team, "/sessions", bob.id)).toMatchObject([{ id: saved.id, query: "a=1" }]);
  for (const name of ["", "  ", "x".repeat(61), "a\u0000b"])
    await expect(saveView(core, team, ada.id, { ...view, name }, COMMAND_LINE)).rejects.toThrow("name");
  await expect(saveView(core, team, ada.id, { ...view, query: "x".repeat(3_000) }, COMMAND_LINE)).rejects.toThrow(
    "too much",
  );
  await expect(deleteView(core, team, bob.id, saved.id, false, COMMAND_LINE)).rejects.toThrow("no such view");
  for (let i = 1; i < 50; i++)
    await saveView(core, team, ada.id, { ...view, name: `v${i}`, shared: false }, COMMAND_LINE);
  await expect(saveView(core, team, ada.id, { ...view, name: "one more" }, COMMAND_LINE)).rejects.toThrow("at most");
  await expect(
    deleteView(core, team, bob.id, listViews(core, team, "/sessions", ada.id)[5]?.id ?? "", true, COMMAND_LINE),
  ).rejects.toThrow();
  expect(await core.store.write(() => viewErasure.eraseNaming(core, "repo", "github.com/a/b"))).toBe(49);
  expect(await core.store.write(() => viewErasure.eraseOf(core, ada.id))).toBe(1);
  expect(t.count("saved_views")).toBe(0);
  expect(isSameQuery("b=2&a=1&cursor=z", "a=1&b=2&c=")).toBe(true);
});
