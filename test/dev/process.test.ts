import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { reckon } from "../faults/support/process.ts";
import { startProcess } from "../support/dev.ts";
import { newFolder } from "../support/folder.ts";
import { MAIN } from "../support/program.ts";

const control = async (url: string, route: string, body: object = {}) =>
  (await fetch(`${url}/${route}`, { method: "POST", body: JSON.stringify(body) })).json();

/** Waits until a process is gone. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What a socket is answered with. */
async function raw(baseUrl: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
  // Node gives a client up that closes its half before it is answered.
  socket.write(text);
  let answer = "";
  for await (const part of socket.setEncoding("utf8")) answer += part;
  return answer;
}

describe("reckon dev", () => {
  it("prints working credentials, answers on loopback alone, and leaves nothing behind", async () => {
    const t = await startProcess(["--seed", "process", "--empty"]);
    expect(t.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(statSync(t.dataDirectory).mode & 0o777).toBe(0o700);
    for (const [path, token] of [
      ["/api/policy", t.deviceToken],
      ["/api/cli/me", t.cliToken],
      ["/api/me/brain/context?q=why", t.readToken],
    ] as const) {
      const answer = await fetch(t.baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
    expect(await t.end("SIGINT")).toBe(0);
    expect(existsSync(t.dataDirectory)).toBe(false);
  });

  it("tells commands on its directory where it answers, also after a reset and when its directory is seeded anew", async () => {
    const data = join(newFolder(), "data");
    for (const isNew of [true, false]) {
      // As where a start was cut short.
      if (!isNew) rmSync(join(data, "dev-seed.db"));
      const t = await startProcess(["--empty", "--data", data]);
      for (const resets of [0, 1]) {
        if (resets > 0) expect(await control(t.controlUrl, "reset")).toMatchObject({ ok: true });
        const { code, stdout, stderr } = await reckon(["license", "mint", "--team", "Demo", "--data", data]);
        expect([code, stderr]).toEqual([0, ""]);
        expect(JSON.parse(Buffer.from(stdout.split(".")[1] ?? "", "base64url").toString())).toMatchObject({
          iss: t.baseUrl,
        });
      }
      const second = await reckon(["serve", "--port", "0", "--data", data]);
      expect([second.code, second.stderr]).toEqual([75, expect.stringContaining(`at ${t.baseUrl}`)]);
      await t.end("SIGINT");
    }
  });

  it("records bodies that arrive over a socket, whole or in pieces, and does not touch them", async () => {
    const t = await startProcess(["--empty"]);
    const body = JSON.stringify({ entries: [{ seq: 1, payload: { said: "over a socket" } }] });
    const head = `POST /api/telemetry/ingest HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${t.deviceToken}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
    const whole = await raw(t.baseUrl, `${head}content-length: ${body.length}\r\n\r\n${body}`);
    expect(whole).toContain('"accepted":1');
    const pieces = [body.slice(0, 20), body.slice(20)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    const chunked = await raw(t.baseUrl, `${head}transfer-encoding: chunked\r\n\r\n${pieces.join("")}0\r\n\r\n`);
    expect(chunked).toContain('"accepted":0');
    const { entries } = (await (await fetch(`${t.controlUrl}/journal?operationId=telemetryIngest`)).json()) as {
      entries: { request: { body: string } }[];
    };
    expect(entries.map((one) => one.request.body)).toEqual([body, body]);
  });

  it("refuses its control routes to a name that is not this machine's", async () => {
    const t = await startProcess(["--empty"]);
    const answer = await raw(
      t.baseUrl,
      "GET /_dev/state HTTP/1.1\r\nhost: reckon.example\r\nconnection: close\r\n\r\n",
    );
    expect(answer).toContain("403 Forbidden");
    expect(answer).not.toContain(t.deviceToken);
  });

  it("dates its replies by its own clock, over a socket too", async () => {
    const t = await startProcess(["--seed", "dates", "--empty", "--freeze"]);
    const get = "HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    for (const path of ["/api/health", "/api/nothing", "/_dev/clock", "/", "/login", "/openapi.json", "/api/policy"]) {
      const answer = await raw(t.baseUrl, `GET ${path} ${get}`);
      expect([path, answer.match(/^date: .*$/gim)]).toEqual([
        path,
        [expect.stringMatching(/Sat, 21 Nov 2026 08:00:00 GMT/)],
      ]);
    }
    await control(t.controlUrl, "clock", { set: "2027-01-02T03:04:05Z" });
    expect((await fetch(`${t.baseUrl}/api/health`)).headers.get("date")).toBe("Sat, 02 Jan 2027 03:04:05 GMT");
  });

  it("runs beside others without meeting them", async () => {
    const all = await Promise.all(["one", "one", "two"].map((seed) => startProcess(["--seed", seed, "--empty"])));
    const [first, second, third] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
    expect(new Set(all.map(({ baseUrl }) => baseUrl)).size).toBe(3);
    expect([second.deviceToken, second.readToken]).toEqual([first.deviceToken, first.readToken]);
    expect(third.deviceToken).not.toBe(first.deviceToken);
    await control(first.controlUrl, `devices/${first.deviceId}`, { action: "revoke" });
    const policy = ({ baseUrl, deviceToken }: { baseUrl: string; deviceToken: string }) =>
      fetch(`${baseUrl}/api/policy`, { headers: { authorization: `Bearer ${deviceToken}` } });
    expect([(await policy(first)).status, (await policy(second)).status]).toEqual([401, 200]);
  });

  it("reads limits from the environment, and nothing else that a real installation may have set", async () => {
    const t = await startProcess(["--empty"], {
      RECKON_LIMIT_EXCHANGE: "1/60",
      RECKON_DATA: "/nowhere",
      RECKON_BASE_URL: "https://reckon.example",
      RECKON_SIGNING: "off",
    });
    const exchange = async () =>
      (await fetch(`${t.baseUrl}/api/connect/exchange`, { method: "POST", body: "{}" })).status;
    expect([await exchange(), await exchange()]).toEqual([expect.any(Number), 429]);
    expect((await fetch(`${t.baseUrl}/api/license/pubkey`)).status).toBe(200);
    expect(t.baseUrl).toContain("127.0.0.1");
  });

  it.each(["its standard input is closed", "its parent is killed"])(
    "stops with --watch-parent when %s",
    async (how) => {
      if (how.includes("input")) {
        const t = await startProcess(["--empty", "--watch-parent"], {}, "pipe");
        const exited = once(t.child, "exit");
        t.child.stdin?.end();
        expect((await exited)[0]).toBe(0);
        expect(existsSync(t.dataDirectory)).toBe(false);
        return;
      }
      const script = `
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ${JSON.stringify([MAIN, "dev", "--port", "0", "--json", "--empty", "--watch-parent"])}, { stdio: ["ignore", "pipe", "inherit"] });
      child.stdout.once("data", (line) => process.stdout.write(JSON.stringify({ pid: child.pid, ...JSON.parse(line) })));
      setInterval(() => {}, 1000);`;
      const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const [line] = await once(parent.stdout, "data");
      const { pid, dataDirectory } = JSON.parse(String(line));
      expect(existsSync(dataDirectory)).toBe(true);
      parent.kill("SIGKILL");
      await gone(pid);
      expect(existsSync(dataDirectory)).toBe(false);
    },
  );

  it("lists every control route in its help", async () => {
    const t = await startProcess(["--empty"]);
    const { routes } = (await (await fetch(t.controlUrl)).json()) as { routes: { method: string; path: string }[] };
    const help = spawn(process.execPath, [MAIN, "dev", "--help"], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    for await (const part of help.stdout.setEncoding("utf8")) text += part;
    for (const { method, path } of routes.filter((one) => one.path !== "/_dev"))
      expect(text).toMatch(new RegExp(`${method} +${path}(?: |$)`, "m"));
  });

  it("says what is wrong with a start instant, an option, a variable, and with a port that is taken", async () => {
    const t = await startProcess(["--empty"]);
    const fail = async (args: string[], more: Record<string, string> = {}) => {
      const env = { ...process.env, ...more };
      const child = spawn(process.execPath, [MAIN, "dev", ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
      let text = "";
      for await (const part of child.stderr.setEncoding("utf8")) text += part;
      return text;
    };
    for (const start of ["soon", "2026-02-30", "2026-11-21T08:00:00"])
      expect(await fail(["--port", "0", "--start", start])).toContain("It must be a date such as");
    expect(await fail(["--port", "0", "--start", "1970-01-01"])).toContain("from 2000 to 9998");
    expect(await fail(["--port", "x"])).toContain("--port must be a whole number");
    expect(await fail([], { RECKON_PORT: "x" })).toContain("RECKON_PORT must be a whole number");
    expect(await fail(["--port", "0"], { RECKON_LOG: "loud" })).toContain("RECKON_LOG must be one of");
    expect(await fail(["--port", new URL(t.baseUrl).port])).toContain("--port");
  });
});
