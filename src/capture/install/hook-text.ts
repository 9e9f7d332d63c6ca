import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../kit/json.ts";
import type { Backup } from "./backups.ts";
import { type HookCommand, SettingsError } from "./installer.ts";
import { insertChild, layoutOf, removeChild, renderValue } from "./json-edit.ts";
import { type Dialect, type JsonNode, lineAt, nodeAt, parseTree } from "./json-tree.ts";

/**
 * Hooks in the JSON that four agents share: a member `hooks` with a list for each event. Here texts become texts; files are read and
 * written elsewhere.
 */

/** How one agent writes hooks. */
export interface HookForm {
  readonly agent: string;
  readonly dialect: Dialect;
  readonly events: readonly string[];
  /** One element of an event's list. */
  entry(command: string): Record<string, unknown>;
  /** What a file has beside `hooks` when there is nothing else in it. */
  readonly frame: Record<string, unknown>;
}

type Path = readonly (string | number)[];

interface Found {
  readonly event: string;
  /** Path of the element in the event's list; of our handler alone where the element holds others, too. */
  readonly path: Path;
  readonly exact: boolean;
}

/** @throws SettingsError */
export function parseSettings(file: string, text: string, form: HookForm): JsonNode {
  const root = parseTree(file, text, form.dialect);
  const fail = (node: JsonNode, reason: string): never => {
    throw new SettingsError(file, reason, lineAt(text, node.start));
  };
  if (!isObject(root.value)) return fail(root, "it is not an object");
  const hooks = nodeAt(root, ["hooks"]);
  if (!hooks) return root;
  if (!isObject(hooks.value)) return fail(hooks, '"hooks" is not an object');
  for (const event of form.events) {
    const list = nodeAt(hooks, [event]);
    if (list && !Array.isArray(list.value)) return fail(list, `"hooks.${event}" is not a list`);
  }
  return root;
}

/** Our hooks in a text, in its order. */
export function findHooks(root: JsonNode, form: HookForm, hook: HookCommand): Found[] {
  const owned = (value: unknown) => isObject(value) && typeof value.command === "string" && hook.owns(value.command);
  return (nodeAt(root, ["hooks"])?.children ?? []).flatMap(({ key: event = "", node: list }) => {
    if (!Array.isArray(list.value)) return [];
    const expected = form.events.includes(event) ? form.entry(hook.line(form.agent, event)) : undefined;
    return list.value.flatMap((element: unknown, at): Found[] => {
      const path = ["hooks", event, at];
      const handlers: unknown[] = isObject(element) && Array.isArray(element.hooks) ? element.hooks : [];
      const ours = handlers.flatMap((handler, i) => (owned(handler) ? [i] : []));
      if (owned(element) || (ours.length > 0 && ours.length === handlers.length))
        return [{ event, path, exact: isDeepStrictEqual(element, expected) }];
      return ours.map((i) => ({ event, path: [...path, "hooks", i], exact: false }));
    });
  });
}

/** Whether every event has our hook in its present form, and no older one of ours is left. */
export function isComplete(found: readonly Found[], form: HookForm): boolean {
  return found.length === form.events.length && found.every(({ exact }) => exact);
}

/**
 * The text with one hook for each event. A hook of ours in another form is replaced in place.
 * @param before what the file was before us, when that is known
 * @throws SettingsError
 */
export function withHooks(
  file: string,
  text: string | undefined,
  form: HookForm,
  hook: HookCommand,
  before: Backup | undefined,
): string {
  const all = Object.fromEntries(form.events.map((event) => [event, [form.entry(hook.line(form.agent, event))]]));
  if (text === undefined || text.trim() === "") return `${JSON.stringify({ ...form.frame, hooks: all }, null, 2)}\n`;
  const root = parseSettings(file, text, form);
  const layout = layoutOf(text, root);
  if (isBare(root)) return splice(text, root, renderValue({ ...form.frame, hooks: all }, layout, ""));
  if (!nodeAt(root, ["hooks"])) return insertChild(text, root, "hooks", all, layout);
  let result = text;
  for (const event of form.events) result = withHook(file, result, form, hook, event);
  const found = findHooks(parseSettings(file, result, form), form, hook);
  return withoutFound(
    file,
    result,
    form,
    found.filter(({ event }) => !form.events.includes(event)),
    before,
  );
}

function withHook(file: string, text: string, form: HookForm, hook: HookCommand, event: string): string {
  const root = parseSettings(file, text, form);
  const layout = layoutOf(text, root);
  const entry = form.entry(hook.line(form.agent, event));
  const found = findHooks(root, form, hook).filter((one) => one.event === event);
  const kept = found.find(({ exact }) => exact) ?? found.find(({ path }) => path.length === 3);
  let result = text;
  if (kept && !kept.exact) {
    const node = nodeAt(root, kept.path) as JsonNode;
    const own = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, node.start))?.[1];
    result = splice(text, node, own === undefined ? JSON.stringify(entry) : renderValue(entry, layout, own));
  }
  for (const { path } of found.filter((one) => one !== kept).reverse()) result = without(file, result, form, path);
  if (kept) return result;
  const now = parseSettings(file, result, form);
  const list = nodeAt(now, ["hooks", event]);
  if (list) return insertChild(result, list, undefined, entry, layout);
  return insertChild(result, nodeAt(now, ["hooks"]) as JsonNode, event, [entry], layout);
}

/**
 * The text without our hooks, and without the containers that we made for them.
 * @param before what the file was before us; without it, a container that is empty afterwards counts as ours
 * @returns undefined when nothing is left of a file that we made
 * @throws SettingsError
 */
export function withoutHooks(
  file: string,
  text: string,
  form: HookForm,
  hook: HookCommand,
  before: Backup | undefined,
): string | undefined {
  const found = findHooks(parseSettings(file, text, form), form, hook);
  const result = withoutFound(file, text, form, found, before);
  const root = parseSettings(file, result, form);
  const left = root.children?.length === 0 ? {} : form.frame;
  if (!before || found.length === 0 || root.comments || !isDeepStrictEqual(root.value, left)) return result;
  if (before.text === undefined) return undefined;
  if (before.text.trim() === "") return before.text;
  const was = parseSettings(file, before.text, form);
  return isBare(was) ? splice(result, root, before.text.slice(was.start, was.end)) : result;
}

/** The text without the given hooks. A list that this empties goes as well, unless it was there before: then it gets its old text back. */
function withoutFound(
  file: string,
  text: string,
  form: HookForm,
  found: readonly Found[],
  before: Backup | undefined,
): string {
  let result = text;
  for (const { path } of found.toReversed()) result = without(file, result, form, path);
  const was = before?.text?.trim() ? parseSettings(file, before.text, form) : undefined;
  const lists = [...new Set(found.map(({ event }) => event))].map((event) => ["hooks", event]);
  for (const path of lists.length > 0 ? [...lists, ["hooks"]] : []) {
    const node = nodeAt(parseSettings(file, result, form), path);
    const old = nodeAt(was, path);
    if (!node || !isBare(node)) continue;
    if (!old) result = without(file, result, form, path);
    else if (isBare(old)) result = splice(result, node, before?.text?.slice(old.start, old.end) ?? "");
  }
  return result;
}

/** Whether nothing stands between the brackets, not even a comment. */
const isBare = ({ children, comments }: JsonNode) => children?.length === 0 && !comments;

const splice = (text: string, { start, end }: JsonNode, by: string) => text.slice(0, start) + by + text.slice(end);

function without(file: string, text: string, form: HookForm, path: Path): string {
  const parent = nodeAt(parseSettings(file, text, form), path.slice(0, -1));
  const last = path.at(-1);
  if (!parent) return text;
  const index = typeof last === "number" ? last : (parent.children ?? []).findIndex(({ key }) => key === last);
  return index < 0 ? text : removeChild(text, parent, index);
}
