import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { allows, type Egress, hostName, mailServer, readEgress } from "../../../src/kit/egress.ts";

describe("what may be called", () => {
  it("is a list of hosts, with ports and wildcards, spelled as the URL standard does", () => {
    expect(readEgress(" Hooks.Example.com. , *.bücher.example:8443,[::1]:9,2130706433,+private,")).toEqual({
      hosts: [
        { host: "hooks.example.com", wildcard: false, port: undefined },
        { host: "xn--bcher-kva.example", wildcard: true, port: 8443 },
        { host: "[::1]", wildcard: false, port: 9 },
        { host: "127.0.0.1", wildcard: false, port: undefined },
      ],
      private: true,
    });
    expect(readEgress("")).toEqual({ hosts: [], private: false });
  });

  it.each([
    "https://a.example",
    "a.example/path",
    "user@a.example",
    "*",
    "a.*.example",
    "a.example:0",
    "a.example:70000",
    "a b",
    "[::zz]",
    "+public",
    ".",
  ])("is not %s", (text) => {
    expect(readEgress(`ok.example,${text}`)).toEqual({ unreadable: text });
    expect(() => readConfig({ outbound: text }, {})).toThrow(/RECKON_OUTBOUND|undefined/);
  });

  it("is matched whole", () => {
    const list = readEgress("a.example,*.b.example,c.example:8443") as Egress;
    for (const [host, port, own, allowed] of [
      ["a.example", 443, true, true],
      ["a.example", 8443, false, false],
      ["x.a.example", 443, true, false],
      ["b.example", 443, true, false],
      ["x.b.example", 443, true, true],
      ["x.y.b.example", 443, true, true],
      ["xb.example", 443, true, false],
      ["c.example", 8443, false, true],
      ["c.example", 443, true, false],
    ] as const)
      expect([host, port, allows(list, host, port, own)]).toEqual([host, port, allowed]);
    expect([hostName("0x7f.1"), hostName("LOCALHOST."), hostName("a b")]).toEqual([
      "127.0.0.1",
      "localhost",
      undefined,
    ]);
  });
});

describe("a mail server", () => {
  it("has a host, a port and a user, and says how TLS begins", () => {
    expect(mailServer("smtp://me%40example.com@Mail.Example.com")).toEqual({
      value: { host: "mail.example.com", port: 587, implicitTls: false, user: "me@example.com" },
    });
    expect(mailServer("smtps://mail.example.com:2465/")).toEqual({
      value: { host: "mail.example.com", port: 2465, implicitTls: true, user: undefined },
    });
  });

  it.each([
    "mail.example.com",
    "http://mail.example.com",
    "smtp://me:secret@mail.example.com",
    "smtp://mail.example.com/x",
    "smtp://%zz@mail.example.com",
    "smtp://",
  ])("is not %s, and a password is not quoted", (text) => {
    const read = mailServer(text);
    expect(read).toEqual({ wrong: expect.stringContaining("without a password") });
    expect(() => readConfig({}, { RECKON_SMTP_URL: text })).toThrow(/^RECKON_SMTP_URL must be/);
    expect(JSON.stringify(read)).not.toContain("secret");
  });

  it("is spoken to by an address", () => {
    expect(readConfig({}, { RECKON_MAIL_FROM: "reckon@example.com" }).mailFrom).toBe("reckon@example.com");
    expect(() => readConfig({}, { RECKON_MAIL_FROM: "Reckon <reckon@example.com>" })).toThrow("RECKON_MAIL_FROM");
  });
});
