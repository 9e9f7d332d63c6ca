import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { invalid, Problem } from "../../../src/kit/problem.ts";
import { FormProblem, formSpec, typed } from "../../../src/surfaces/web/ui/form-spec.ts";

const ROOM = formSpec({
  name: { kind: "text", label: "Name" },
  seats: { kind: "number", label: "Seats", schema: v.pipe(typed, v.regex(/^\d+$/, "A number."), v.transform(Number)) },
  loud: { kind: "checkbox", label: "Loud" },
  end: { kind: "checkbox", label: "End", value: "yes" },
  tags: {
    kind: "checkboxes",
    name: "tag",
    label: "Tags",
    options: [
      { value: "a", label: "A" },
      { value: "b", label: "B" },
    ],
  },
  secret: { kind: "password", label: "Secret" },
  basis: { kind: "hidden", name: "based_on" },
});

const placeOf = (sent: string) => ({
  csrf: "token",
  form: new URLSearchParams(sent),
  href: (path: string) => `/below${path}`,
});
const shown = {
  action: "/rooms",
  submit: "Save",
  values: { name: "Hall", seats: 3, loud: true, tags: ["b"], basis: 7 },
};

describe("a declared form", () => {
  it("reads each field by its kind and its schema, and what is missing as empty", () => {
    expect(ROOM.read(new URLSearchParams("name=X&seats=12&loud=on&end=no&tag=a&tag=b&secret=s&based_on=4"))).toEqual({
      ...{ name: "X", seats: 12, loud: true, end: false, tags: ["a", "b"], secret: "s", basis: "4" },
    });
    expect(ROOM.read(new URLSearchParams("seats=1&end=yes"))).toEqual({
      ...{ name: "", seats: 1, loud: false, end: true, tags: [], secret: "", basis: "" },
    });
  });

  it("refuses invalid values, with the schema's message and the field's key", () => {
    const read = () => ROOM.read(new URLSearchParams("seats=many"));
    expect(read).toThrow(FormProblem);
    expect(read).toThrow(
      expect.objectContaining({ status: 400, message: "A number.", fields: { seats: "A number." } }),
    );
  });

  it("is drawn with the values in force, below the site's path", () => {
    const text = ROOM.draw(placeOf("name=ignored"), shown).toString();
    expect(text).toContain('action="/below/rooms"');
    expect(text).toContain('value="Hall"');
    expect(text).toContain('value="3"');
    expect(text).toMatch(/name="loud"[^>]* checked/);
    expect(text).not.toMatch(/name="end"[^>]* checked/);
    expect(text).not.toMatch(/value="a"[^>]* checked/);
    expect(text).toMatch(/value="b"[^>]* checked/);
    expect(text).toContain('<input type="hidden" name="based_on" value="7">');
  });

  it("comes back with what was sent and what is wrong, except for passwords; another form of the page stays as it was", () => {
    const place = placeOf("name=Loft&seats=many&tag=a&secret=hunter2&based_on=6");
    const problem = new Problem(invalid, "no room");
    const text = ROOM.draw(place, { ...shown, error: { form: ROOM, problem } }).toString();
    expect(text).toContain("No room.");
    expect(text).toContain('value="Loft"');
    expect(text).toContain('value="many"');
    expect(text).not.toMatch(/name="loud"[^>]* checked/);
    expect(text).toMatch(/value="a"[^>]* checked/);
    expect(text).toContain('name="based_on" value="6"');
    expect(text).not.toContain("hunter2");
    const other = ROOM.draw(place, { ...shown, error: { form: {}, problem } }).toString();
    expect(other).toBe(ROOM.draw(placeOf(""), shown).toString());
  });

  it("names errors at their fields where it has a summary to stand above", () => {
    const form = formSpec(
      { age: { kind: "text", label: "Age", schema: v.pipe(typed, v.nonEmpty("Say it.")) } },
      "Look below.",
    );
    const text = form
      .draw(placeOf(""), { action: "/x", submit: "Go", error: { form, problem: new FormProblem({ age: "Say it." }) } })
      .toString();
    expect(text).toMatch(/role="alert"[^>]*>Look below\.</);
    expect(text).toContain('<p class="error" id="f-age-error">Say it.</p>');
  });

  it("leaves out or varies a field where a page wants it so", () => {
    const text = ROOM.draw(placeOf(""), { ...shown, vary: { name: { label: "Room" }, tags: false } }).toString();
    expect(text).toContain(">Room");
    expect(text).not.toContain('name="tag"');
  });
});
