import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { createChannel, messagesOf, testChannel } from "../../src/share/notifications/notifications.ts";
import { makeCertificate, trust } from "../support/certificates.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

interface Mailbox {
  readonly port: number;
  readonly mails: string[];
  readonly envelopes: string[][];
  /** What was said before TLS. */
  connections: number;
}

async function startMailServer(options: SMTPServerOptions): Promise<Mailbox> {
  const mails: string[] = [];
  const envelopes: string[][] = [];
  const server = new SMTPServer({
    authOptional: true,
    ...options,
    onConnect(_session, done) {
      mailbox.connections++;
      done();
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        envelopes.push(session.envelope.rcptTo.map(({ address }) => address));
        mails.push(Buffer.concat(parts).toString("utf8"));
        done();
      });
    },
  });
  // A client that does not trust the certificate hangs up.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  const mailbox: Mailbox = { port, mails, envelopes, connections: 0 };
  return mailbox;
}

async function channelOf(t: TestInstance, name: string) {
  const team = await t.team({ name: `Ünder ${name}` });
  const desired = {
    teamId: team.id,
    kind: "mail",
    name: "Leads",
    target: "ada@example.com, bob@example.com",
    events: ["gap"],
  };
  return (await createChannel(t.instance.core, { ...desired, kind: "mail" }, COMMAND_LINE)).channel;
}

const start = (port: number, scheme = "smtp", more: Record<string, string> = {}) =>
  startInstance({
    withJobs: true,
    settings: {
      outbound: `localhost:${port},+private`,
      smtpUrl: `${scheme}://reckon@localhost:${port}`,
      smtpPassword: "plough",
      mailFrom: "reckon@example.com",
      ...more,
    },
  });

const auth: SMTPServerOptions = {
  authOptional: false,
  onAuth: ({ username, password }, _session, done) =>
    username === "reckon" && password === "plough" ? done(null, { user: username }) : done(new Error("wrong")),
};

describe("mail", () => {
  it.each([
    ["smtp", false],
    ["smtps", true],
  ] as const)("goes by %s with TLS, signed in, to all addresses", async (scheme, secure) => {
    const certificate = makeCertificate();
    trust(certificate);
    const box = await startMailServer({ ...certificate, ...auth, secure });
    const t = await start(box.port, scheme);
    const { id } = await channelOf(t, "one");
    const outcome = await testChannel(t.instance.core, id, COMMAND_LINE);
    expect(outcome).toMatchObject({ delivered: true, text: expect.stringMatching(/^250 /) });
    expect(box.envelopes).toEqual([["ada@example.com", "bob@example.com"]]);
    const [mail = ""] = box.mails;
    expect(mail).toContain("From: Reckon <reckon@example.com>");
    expect(mail).toMatch(/^Message-ID: <msg_\w+@example\.com>/m);
    expect(mail).toContain("Auto-Submitted: auto-generated");
    expect(mail).toContain("It works: notifications arrive here.");
  });

  it("is refused where the certificate is expired, or signed by nobody who is trusted", async () => {
    const unknown = makeCertificate();
    const expired = makeCertificate(-1);
    trust(expired);
    for (const [certificate, why] of [
      [unknown, /self.signed certificate: set NODE_EXTRA_CA_CERTS to/i],
      [expired, /expired/i],
    ] as const) {
      const box = await startMailServer({ ...certificate, ...auth });
      const t = await start(box.port);
      const outcome = await testChannel(t.instance.core, (await channelOf(t, "two")).id, COMMAND_LINE);
      expect(outcome).toMatchObject({ delivered: false, text: expect.stringMatching(why) });
      expect([box.connections, box.mails]).toEqual([1, []]);
    }
  });

  it("is not sent to a server that has no TLS", async () => {
    const box = await startMailServer({ disabledCommands: ["STARTTLS", "AUTH"] });
    const t = await start(box.port);
    const outcome = await testChannel(t.instance.core, (await channelOf(t, "four")).id, COMMAND_LINE);
    expect(outcome.delivered).toBe(false);
    expect([box.connections, box.mails]).toEqual([1, []]);
  });

  it("is not sent to a server that is not listed, or has a private address without permission", async () => {
    const box = await startMailServer(makeCertificate());
    for (const outbound of ["mail.example.com", `localhost:${box.port}`]) {
      const t = await start(box.port, "smtp", { outbound });
      const outcome = await testChannel(t.instance.core, (await channelOf(t, outbound)).id, COMMAND_LINE);
      expect([outbound, outcome.delivered]).toEqual([outbound, false]);
      expect(outcome.text).toMatch(/RECKON_OUTBOUND does not (?:list localhost|have \+private)/);
    }
    expect(box.connections).toBe(0);
  });

  it("repeats the server's reason when it refuses", async () => {
    const certificate = makeCertificate();
    trust(certificate);
    const refusing: SMTPServerOptions = {
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error("no\r\nsuch mailbox"), { responseCode: 550 })),
    };
    const box = await startMailServer({ ...certificate, ...auth, ...refusing });
    const t = await start(box.port);
    const outcome = await testChannel(t.instance.core, (await channelOf(t, "five")).id, COMMAND_LINE);
    expect(outcome).toMatchObject({ delivered: false, text: expect.stringMatching(/^550 /) });
    expect(outcome.text).not.toMatch(/[\r\n]/);
  });

  it("tells that some addresses are refused, and why, without naming anybody", async () => {
    const certificate = makeCertificate();
    trust(certificate);
    let refuses = /^bob@/;
    const box = await startMailServer({
      ...{ ...certificate, ...auth },
      onRcptTo: ({ address }, _session, done) =>
        refuses.test(address)
          ? done(Object.assign(new Error(`5.1.1 <${address.toUpperCase()}> is unknown`), { responseCode: 550 }))
          : done(),
    });
    const t = await start(box.port);
    const { id } = await channelOf(t, "six");
    const some = await testChannel(t.instance.core, id, COMMAND_LINE);
    expect(some).toMatchObject({
      ...{ delivered: true, text: expect.stringMatching(/^1 of 2 addresses refused \(550 5\.1\.1 .*unknown\); 250 /) },
    });
    expect(box.envelopes).toEqual([["ada@example.com"]]);
    refuses = /./;
    const none = await testChannel(t.instance.core, id, COMMAND_LINE);
    expect(none).toMatchObject({ delivered: false, text: expect.stringMatching(/^550 /) });
    // A stored address would still name a person who is erased from the channel.
    expect(`${some.text} ${none.text}`).not.toMatch(/@example/i);
    expect(JSON.stringify(t.rows("SELECT detail FROM audit_events WHERE action = 'channel.tested'"))).not.toMatch(
      /(?:bob|ada)@/i,
    );
  });

  it("is sent later to addresses that the server refuses for now, and not again to those that it accepted", async () => {
    const certificate = makeCertificate();
    trust(certificate);
    const asked: string[] = [];
    const box = await startMailServer({
      ...{ ...certificate, ...auth },
      onRcptTo({ address }, _session, done) {
        asked.push(address);
        const isNew = address.startsWith("bob@") && asked.filter((one) => one === address).length < 3;
        done(isNew ? Object.assign(new Error("4.7.1 greylisted"), { responseCode: 451 }) : null);
      },
    });
    const t = await start(box.port);
    const device = await t.device();
    const desired = { teamId: device.team.id, kind: "mail", name: "Leads", events: ["session.failed"] } as const;
    const target = "ada@example.com, bob@example.com";
    const { channel } = await createChannel(t.instance.core, { ...desired, target }, COMMAND_LINE);
    await t.post("/api/agent-traces/ingest", {
      token: device.token,
      json: { sessions: [{ id: "s", outcome: "failed", agent: "x", spans: [] }] },
    });
    await expect.poll(() => t.count("notification_messages")).toBe(1);
    const message = () => messagesOf(t.instance.core, channel.id, 1)[0];
    for (const [tries, pause] of [10_000, 5_000, 300_000].entries()) {
      t.clock.advance(pause);
      await expect
        .poll(() => [message()?.tries, message()?.outcome?.slice(0, 3)])
        .toEqual([tries + 1, ["1 o", "451", "250"][tries]]);
    }
    expect(message()).toMatchObject({ state: "delivered" });
    expect(box.envelopes).toEqual([["ada@example.com"], ["bob@example.com"]]);
  });

  it("has no header lines that somebody else wrote", async () => {
    const certificate = makeCertificate();
    trust(certificate);
    const box = await startMailServer({ ...certificate, ...auth });
    const t = await start(box.port);
    const device = await t.device();
    const desired = {
      teamId: device.team.id,
      kind: "mail",
      name: "Leads",
      target: "ada@example.com",
      events: ["session.failed"],
    } as const;
    await createChannel(t.instance.core, desired, COMMAND_LINE);
    t.instance.core.store.db.prepare("UPDATE teams SET name = ?").run("Shop\r\nBcc: eve@example.com");
    const agent = "x\r\nBcc: eve@example.com\r\n\r\n.\r\nQUIT";
    await t.post("/api/agent-traces/ingest", {
      token: device.token,
      json: { sessions: [{ id: "s", outcome: "failed", agent, spans: [] }] },
    });
    await expect.poll(() => t.count("notification_messages")).toBe(1);
    t.clock.advance(10_000);
    await expect.poll(() => box.mails.length).toBe(1);
    const [head = "", body = ""] = (box.mails[0] as string).split("\r\n\r\n", 2);
    expect(head).not.toMatch(/^Bcc/im);
    expect(body).not.toMatch(/^Bcc/im);
    expect(head).toContain("Subject:");
    expect(box.envelopes).toEqual([["ada@example.com"]]);
  });
});
