import { expect, it } from "vitest";
import { judgeArrival } from "../../src/surfaces/web/dashboard/settings/address.ts";
import { sendForm, startSite, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

it("tells how the installation is reached, where its data lies and how to keep it", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  const { page, go, judge } = await site.open(operator);
  await go("/settings");
  await judge("settings");
  const text = await page.locator("main").textContent();
  expect(text).toContain(site.url);
  expect(text).toContain(site.t.directory);
  expect(text).toContain("127.0.0.1");
  expect(text).toContain("reckon backup");
  expect(await page.locator(".flash.warn").count()).toBe(0);
});

it("warns of a proxy that is not trusted and of another origin than the base URL", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  const { page, context, go, judge } = await site.open(operator);
  await context.setExtraHTTPHeaders({
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-host": "reckon.example.com",
    "x-forwarded-proto": "https",
  });
  await go("/settings");
  await judge("settings-warnings");
  const warnings = await page.locator(".flash.warn").allInnerTexts();
  expect(warnings).toEqual([
    expect.stringMatching(
      /proxy at 127\.0\.0\.1, which is not trusted.*RECKON_TRUSTED_PROXIES=127\.0\.0\.1 and restart/s,
    ),
    expect.stringMatching(
      /opened at https:\/\/reckon\.example\.com.*RECKON_BASE_URL=https:\/\/reckon\.example\.com and restart/s,
    ),
  ]);
});

it("judges arrivals: no warning where all is well or nothing can be told", () => {
  const plain = {
    peer: "127.0.0.1",
    forwardedFor: null,
    forwardedHost: null,
    forwardedProto: null,
    host: "reckon.example.com",
    referer: null,
    baseUrl: "http://reckon.example.com/sub",
    trustedProxies: [],
  };
  const settings = (more: object) => judgeArrival({ ...plain, ...more }).map(({ setting }) => setting);
  expect(settings({})).toEqual([]);
  expect(settings({ host: "10.0.0.5:4870" })).toEqual(["RECKON_BASE_URL=http://10.0.0.5:4870/sub"]);
  // A trusted proxy may call us by any name; without a forwarded one nothing is known.
  expect(settings({ forwardedFor: "192.0.2.1", host: "127.0.0.1:4870", trustedProxies: ["127.0.0.0/8"] })).toEqual([]);
  expect(settings({ peer: "::ffff:10.1.2.3", forwardedFor: "192.0.2.1", trustedProxies: ["10.0.0.0/8"] })).toEqual([]);
  expect(settings({ peer: "::ffff:10.1.2.3", forwardedFor: "192.0.2.1", trustedProxies: ["::1"] })).toEqual([
    "RECKON_TRUSTED_PROXIES=::1,10.1.2.3",
  ]);
  expect(settings({ peer: "fe80::1%eth0", forwardedFor: "192.0.2.1" })).toEqual(["RECKON_TRUSTED_PROXIES=fe80::1"]);
  expect(settings({ peer: "fe80::1%eth0", forwardedFor: "192.0.2.1", trustedProxies: ["fe80::1"] })).toEqual([]);
  expect(settings({ referer: "http://reckon.example.com/sub/people", host: "upstream" })).toEqual([]);
  expect(settings({ referer: "nonsense", host: "not a host" })).toEqual([]);
});

it("shows every setting in force with its default, and no secret", async () => {
  const site = await startSite({
    settings: {
      adminPassword: "a-secret-admin-password",
      smtpPassword: "a-secret-mail-password",
      lake: "s3://company/reckon",
      lakeAccessKeyId: "AKEY",
      lakeSecretAccessKey: "a-secret-lake-key",
      outbound: "hooks.example.com,*.corp.example:8443,+private",
      limitSignIn: "off",
      limitTelemetry: "7/90",
      maxBrainFiles: "12",
      backupEvery: "24h",
    },
  });
  const operator = await site.person({ operator: true });
  const { page, go, judge } = await site.open(operator);
  await go("/settings/limits");
  await judge("settings-limits");
  expect(await page.content()).not.toMatch(/a-secret-(?:admin-password|mail-password|lake-key)/);
  expect(await page.content()).toContain("s3://company/reckon");
  const cells = async (name: string) =>
    page
      .getByRole("row", { name: new RegExp(`^${name} `) })
      .getByRole("cell")
      .allInnerTexts();
  expect(await cells("RECKON_ADMIN_PASSWORD")).toEqual([expect.stringContaining("set, not shown"), "none"]);
  expect(await cells("RECKON_OUTBOUND")).toEqual([
    expect.stringMatching(/^hooks\.example\.com, \*\.corp\.example:8443, \+private.*set here/s),
    "nothing",
  ]);
  expect(await page.locator("main").textContent(), "marks of markdown").not.toContain("`");
  expect(await cells("RECKON_LIMIT_SIGN_IN")).toEqual([expect.stringMatching(/^off.*set here/s), "20 in 60 seconds"]);
  expect(await cells("RECKON_LIMIT_TELEMETRY")).toEqual([
    expect.stringMatching(/^7 in 90 seconds.*set here/s),
    "600 in 60 seconds",
  ]);
  expect(await cells("RECKON_MAX_BRAIN_FILES")).toEqual([expect.stringMatching(/^12.*set here/s), "500"]);
  expect(await cells("RECKON_LICENSE_DAYS")).toEqual(["30", "30"]);
  expect(await cells("RECKON_BACKUP_EVERY")).toEqual([expect.stringMatching(/^1 d.*set here/s), "off"]);
  expect(await cells("RECKON_LAKE_EVERY")).toEqual(["1 min", "1m"]);
});

it("answers 404 for a page that does not exist, and refuses an invalid team", async () => {
  const { site, person: owner } = await startSiteOf();
  const operator = await site.person({ operator: true });
  for (const path of [
    "/settings/teams/team_none",
    "/settings/people/usr_none",
    `/settings/teams/${encodeURIComponent(owner.team.name)}`,
  ]) {
    const reply = await fetch(site.url + path, { headers: { cookie: operator.cookie } });
    expect([path, reply.status]).toEqual([path, 404]);
  }
  for (const [path, fields, status] of [
    ["/settings/teams", { name: "", tier: "team", seats: "5" }, 400],
    ["/settings/teams", { name: "x", tier: "gold", seats: "5" }, 400],
    ["/settings/teams", { name: "x", tier: "team", seats: "-1" }, 400],
    ["/settings/teams", { name: "x", tier: "team", seats: "9999999" }, 400],
    [
      `/settings/teams/${owner.team.id}`,
      { name: "x", tier: "team", seats: "5", subscription: "active", periodEnd: "soon" },
      400,
    ],
    [`/settings/teams/${owner.team.id}`, { name: "x", tier: "team", seats: "5", subscription: "free" }, 400],
  ] as const)
    expect([fields, (await sendForm(site, operator, path, fields)).status]).toEqual([fields, status]);
  expect(site.t.rows("SELECT count(*) AS n FROM teams")).toEqual([{ n: 2 }]);
});
