import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { newToken } from "../../src/kit/tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { curatePack, installCommand } from "../../src/share/packs/packs.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance } from "../support/instance.ts";
import { archiveOf, download, ERRORS, publish, publisher, pushBrain } from "../support/packs.ts";

const PATH = archiveOf("cookie-rules");

async function start() {
  const t = await startInstance();
  return { t, core: t.instance.core, ...(await publisher(t, "cookie-rules")) };
}

describe("downloading a pack", () => {
  it("gives the archive with its digest in every common spelling, and 304 to who has it", async () => {
    const { t, draft } = await start();
    const reply = await download(t, PATH);
    const body = Buffer.from(await reply.arrayBuffer());
    expect(reply.status).toBe(200);
    expect(createHash("sha256").update(body).digest("hex")).toBe(draft.sha256);
    const base64 = Buffer.from(draft.sha256, "hex").toString("base64");
    const wanted = {
      "x-checksum-sha256": draft.sha256,
      "repr-digest": `sha-256=:${base64}:`,
      etag: `"${draft.sha256}"`,
      "content-type": "application/gzip",
      "content-disposition": 'attachment; filename="cookie-rules-1.0.0.tar.gz"',
      "cache-control": "public, no-cache",
      "set-cookie": null,
    };
    for (const [name, value] of Object.entries(wanted)) expect([name, reply.headers.get(name)]).toEqual([name, value]);
    const again = await download(t, PATH, { "if-none-match": `"${draft.sha256}"` });
    expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0]);
    const head = await download(t, PATH, {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      String(body.length),
      0,
    ]);
  });

  it("counts each device once, whichever version and however often, and no other download", async () => {
    const { t, device, team } = await start();
    const other = await t.device();
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const installs = () => t.count("pack_installs");
    await download(t, PATH);
    await download(t, PATH, { authorization: "Bearer " });
    await download(t, PATH, bearer("not-a-token"));
    await download(t, PATH, bearer(newToken("rkd", systemRandom)));
    await download(t, PATH, bearer(other.token), "HEAD");
    expect(installs()).toBe(0);
    await Promise.all([1, 2, 3].map(() => download(t, PATH, bearer(other.token))));
    expect(installs()).toBe(1);
    t.clock.advance(DAY_MS);
    await publish(t, team.id, { name: "cookie-rules", version: "1.1.0" });
    await download(t, archiveOf("cookie-rules", "1.1.0"), bearer(other.token));
    expect(t.rows("SELECT version, installed_at AS at FROM pack_installs")).toEqual([
      { version: "1.1.0", at: t.clock.now() - DAY_MS },
    ]);
    await download(t, PATH, bearer(device.token));
    const [entry] = (await t.get("/api/marketplace/public")).body.entries;
    // The publisher's own device counts as an install, but adds no trust.
    expect(entry.installs).toBe(2);
    expect(entry.why.find((one: { factor: string }) => one.factor === "installs")).toMatchObject({
      value: 1,
      points: 3,
    });
  });

  it("counts no token that is revoked, replaced or expired, and still gives the archive", async () => {
    const { t } = await start();
    const revoked = await t.device();
    await t.post("/api/connect/disconnect", { token: revoked.token });
    const replaced = await t.device();
    await t.post("/api/connect/rotate", { token: replaced.token });
    const expired = await t.device();
    for (const { token } of [revoked, replaced, expired]) {
      if (token === expired.token) t.clock.advance(91 * DAY_MS);
      expect((await download(t, PATH, { authorization: `Bearer ${token}` })).status).toBe(200);
    }
    expect(t.count("pack_installs")).toBe(0);
  });

  it("goes on when an install cannot be stored", async () => {
    const { t } = await start();
    const other = await t.device();
    t.instance.core.store.db.pragma("query_only = ON");
    const reply = await download(t, PATH, { authorization: `Bearer ${other.token}` });
    t.instance.core.store.db.pragma("query_only = OFF");
    expect([reply.status, t.count("pack_installs")]).toEqual([200, 0]);
    expect(t.log.join("")).toContain("install_not_counted");
  });

  it("has nothing under other names and versions, and says why a removed pack is gone", async () => {
    const { t, core } = await start();
    for (const path of [
      archiveOf("cookie-rules", "9.9.9"),
      archiveOf("other"),
      archiveOf("..%2f..%2fetc", "passwd"),
      archiveOf("COOKIE-RULES"),
    ])
      expect([path, (await download(t, path)).status]).toEqual([path, 404]);
    await curatePack(core, "cookie-rules", { act: "remove", reason: "Names <b>a customer</b>." }, COMMAND_LINE);
    const gone = await download(t, PATH, { accept: "text/html" });
    expect(gone.status).toBe(410);
    expect(await gone.text()).toContain("Names &lt;b&gt;a customer&lt;/b&gt;.");
    // Programs are told in plain text.
    for (const accept of [undefined, "*/*", "application/gzip"]) {
      const plain = await download(t, PATH, accept === undefined ? {} : { accept });
      expect([plain.status, plain.headers.get("content-type"), await plain.text()]).toEqual([
        410,
        "text/plain; charset=utf-8",
        "The pack was removed: Names <b>a customer</b>.\n",
      ]);
      expect([plain.headers.get("cache-control"), plain.headers.get("vary")]).toEqual(["no-store", "Accept"]);
    }
  });
});

/** Runs a line in a shell, in a folder, as somebody who pasted it there. */
function paste(folder: string, line: string, env: Record<string, string> = {}, program = "bash") {
  return new Promise<{ code: number | null; said: string }>((resolve) => {
    const shell = spawn(program, ["-c", line], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", TMPDIR: folder, ...env },
    });
    let said = "";
    shell.stdout.on("data", (chunk) => (said += chunk));
    shell.stderr.on("data", (chunk) => (said += chunk));
    shell.once("close", (code) => resolve({ code, said }));
  });
}

async function listening() {
  const t = await startInstance({ settings: { port: "0" } });
  const url = await t.instance.listen();
  const made = await publisher(t, "cookie-rules");
  const folder = newFolder();
  execFileSync("git", ["init", "-q"], { cwd: folder });
  const brain = join(folder, ".claude/brain");
  return { t, url, folder, brain, installed: join(brain, "packs/cookie-rules"), ...made };
}

describe("the install line", () => {
  it("puts the pack into the brain of an empty repository, and its device counts", async () => {
    const { t, url, folder, installed, draft } = await listening();
    const device = await t.device();
    const line = installCommand(url, draft);
    const { code, said } = await paste(folder, line, { RECKON_DEVICE_TOKEN: device.token });
    expect([code, said]).toEqual([0, expect.stringContaining("OK")]);
    expect(readFileSync(join(installed, "errors.md"), "utf8")).toBe(ERRORS);
    const manifest = JSON.parse(readFileSync(join(installed, "pack.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "cookie-rules", version: "1.0.0" });
    for (const { path, sha256 } of manifest.files)
      expect([
        path,
        createHash("sha256")
          .update(readFileSync(join(installed, path)))
          .digest("hex"),
      ]).toEqual([path, sha256]);
    expect(t.count("pack_installs")).toBe(1);
    expect(readdirSync(folder).sort()).toEqual([".claude", ".git"]);
  });

  it("needs no more than a POSIX shell", async () => {
    const { url, folder, installed, draft } = await listening();
    const { code, said } = await paste(folder, installCommand(url, draft), {}, "sh");
    expect([code, said]).toEqual([0, expect.stringContaining("OK")]);
    expect(readFileSync(join(installed, "errors.md"), "utf8")).toBe(ERRORS);
  });

  it("changes nothing where the pack is already, and says so", async () => {
    const { url, folder, installed, brain, draft } = await listening();
    mkdirSync(brain, { recursive: true });
    writeFileSync(join(brain, "errors.md"), "our own\n");
    const line = installCommand(url, draft);
    expect((await paste(folder, line)).code).toBe(0);
    writeFileSync(join(installed, "errors.md"), "changed by hand\n");
    const again = await paste(folder, line);
    expect([again.code, again.said]).toEqual([1, expect.stringContaining("File exists")]);
    expect(readFileSync(join(installed, "errors.md"), "utf8")).toBe("changed by hand\n");
    expect(readFileSync(join(brain, "errors.md"), "utf8")).toBe("our own\n");
    expect(readdirSync(folder).sort()).toEqual([".claude", ".git"]);
  });

  it("unpacks nothing of an archive that was tampered with, or is not there", async () => {
    const { t, url, folder, draft } = await listening();
    const line = installCommand(url, draft);
    t.instance.core.store.db.prepare("UPDATE pack_versions SET archive = ?").run(Buffer.from("something else"));
    const tampered = await paste(folder, line);
    expect([tampered.code, tampered.said]).toEqual([1, expect.stringContaining("FAILED")]);
    const missing = await paste(folder, line.replace("1.0.0/download", "9.9.9/download"));
    expect([missing.code === 0, missing.said]).toEqual([false, expect.stringContaining("404")]);
    expect(readdirSync(folder)).toEqual([".git"]);
  });

  it("unpacks nothing but plain text files, whatever the server hands out", async () => {
    const { t, url, folder, draft } = await listening();
    const hostile = newFolder();
    const make = (name: string, build: string) => {
      execFileSync("bash", ["-ec", `mkdir -p ${name}/p; cd ${name}; ${build}; tar -czPf ../${name}.tgz *`], {
        cwd: hostile,
      });
      return readFileSync(join(hostile, `${name}.tgz`));
    };
    const archives = {
      "a git folder": make("git", "mkdir -p p/.git; printf '[core]\\n fsmonitor = touch ran\\n' >p/.git/config"),
      "git by its other name": make("bare", "mkdir -p p/objects p/refs; echo x >p/HEAD; echo x >p/config"),
      "an editor's folder": make("editor", "mkdir p/.vscode; echo '{}' >p/.vscode/tasks.json"),
      "a link": make("link", "ln -s /etc/passwd p/notes.md"),
      "a program": make("program", "echo >p/run.sh"),
      "a way out": make(
        "out",
        `echo x >p/a.md; tar -czPf ../out.tgz --transform 's,p/a.md,p/../../a.md,' p/a.md; exit 0`,
      ),
    };
    for (const [what, archive] of Object.entries(archives)) {
      const sha256 = createHash("sha256").update(archive).digest("hex");
      t.instance.core.store.db
        .prepare("UPDATE pack_versions SET archive = ?, sha256 = ?")
        .run(archive, Buffer.from(sha256, "hex"));
      const { code, said } = await paste(folder, installCommand(url, { ...draft, sha256 }));
      expect([what, code, said]).toEqual([what, 1, expect.stringContaining("nothing is unpacked")]);
      expect([what, readdirSync(folder)]).toEqual([what, [".git"]]);
    }
  });

  it("prints why a pack is not handed out", async () => {
    const { t, url, folder, draft } = await listening();
    await curatePack(t.instance.core, "cookie-rules", { act: "remove", reason: "Names a customer." }, COMMAND_LINE);
    const { code, said } = await paste(folder, installCommand(url, draft));
    expect([code === 0, said]).toEqual([false, expect.stringContaining("The pack was removed: Names a customer.")]);
    expect(readdirSync(folder)).toEqual([".git"]);
  });

  it("unpacks files with difficult names", async () => {
    const { t, url, folder, installed, device } = await listening();
    const names = ["-rf.md", "with space.md", "quote's.md", "größe.md", "a/b/c.md"];
    await pushBrain(t, device, Object.fromEntries(names.map((name) => [name, `# ${name}\n`])));
    const draft = await publish(t, device.team.id, { name: "cookie-rules", version: "2.0.0-beta.1" });
    expect((await paste(folder, installCommand(url, draft))).code).toBe(0);
    for (const name of names) expect(readFileSync(join(installed, name), "utf8")).toBe(`# ${name}\n`);
  });
});
