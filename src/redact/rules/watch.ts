/** Rows for what watches running code and its quality. */
import { hex, lower, PARTNER_LIST, type Rule, row, upper, uuid, word } from "../rule.ts";

const NEW_RELIC = "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/";
const SENTRY = "https://docs.sentry.io/account/auth-tokens/";
const SONAR = "https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/";
const GRAFANA = "https://grafana.com/docs/grafana/latest/administration/service-accounts/";

export const WATCH_RULES: readonly Rule[] = [
  row(
    "snyk-token",
    "snyk_",
    /snyk_(?:uat|sat)\.[0-9a-f]{8}\.[\w-]{20,200}(?:\.[\w-]{10,200})?/y,
    PARTNER_LIST,
    () => `snyk_uat.${hex(8)}.${word(60)}`,
  ),
  row("sonar-token", ["squ_", "sqp_", "sqa_", "sqco_"], /sq(?:[upa]_[0-9a-f]{40}|co_[0-9A-Za-z]{59})/y, SONAR, () => [
    `squ_${hex(40)}`,
    `sqco_${word(59)}`,
  ]),
  row("grafana-token", ["glc_", "glsa_"], /(?:glc_[0-9A-Za-z+/]{32,400}={0,2}|glsa_\w{41})/y, GRAFANA, () => [
    `glc_eyJ${word(90)}`,
    `glsa_${word(32)}_${hex(8)}`,
  ]),
  row("grafana-api-key", "eyJrIjoi", /eyJrIjoi[0-9A-Za-z]{60,400}={0,2}/y, GRAFANA, () => `eyJrIjoi${word(92)}`),
  row(
    "new-relic-key",
    ["NRAK-", "NRII-", "NRIQ-", "NRJS-", "NRRA-", "NRBR-", "NRSP-"],
    /NR(?:AK|II|IQ|JS|RA|BR|SP)-[\w-]{19,42}/iy,
    NEW_RELIC,
    () => [`NRAK-${upper(27)}`, `NRJS-${hex(19)}`],
  ),
  row("new-relic-license-key", "FFFFNRAL", /[0-9a-z]{6}[0-9a-f]{26}FFFFNRAL/y, NEW_RELIC, () => `${hex(32)}FFFFNRAL`, {
    at: 32,
  }),
  row(
    "new-relic-mobile-token",
    "-NRMA",
    /(?:AA[0-9a-f]{40}|eu01xx[0-9a-f]{36})-NRMA/y,
    NEW_RELIC,
    () => `AA${hex(40)}-NRMA`,
    { at: 42 },
  ),
  row("sentry-token", ["sntryu_", "sntrya_", "sntryi_"], /sntry[uai]_[0-9a-f]{64}/y, SENTRY, () => `sntryu_${hex(64)}`),
  row(
    "sentry-org-token",
    "sntrys_",
    /sntrys_eyJ[0-9A-Za-z+/=_-]{60,500}/y,
    SENTRY,
    () => `sntrys_eyJ${word(140)}_${word(43)}`,
  ),
  row(
    "dynatrace-token",
    "dt0",
    /dt0[a-z][0-9]{2}\.[0-9A-Za-z]{8,24}\.[0-9A-Za-z]{64}/y,
    "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens",
    () => `dt0c01.${upper(24)}.${upper(64)}`,
  ),
  row(
    "logfire-token",
    "pylf_v",
    /pylf_v[0-9]_[a-z]{2,6}_[0-9A-Za-z]{40,50}/y,
    "https://logfire.pydantic.dev/docs/",
    () => `pylf_v1_us_${word(43)}`,
  ),
  row(
    "axiom-token",
    ["xaat-", "xapt-"],
    /xa(?:at|pt)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/y,
    "https://axiom.co/docs/reference/tokens",
    () => `xaat-${uuid()}`,
  ),
  row(
    "honeycomb-key",
    "hc[a-z]ik_",
    /hc[a-z]ik_[0-9a-z]{40,64}/y,
    "https://docs.honeycomb.io/configure/environments/manage-api-keys/",
    () => `hcaik_${lower(58)}`,
  ),
  row("posthog-key", ["phx_", "phs_", "pha_", "phr_"], /ph[xsar]_[\w-]{40,60}/y, "https://posthog.com/docs/api", () => [
    `phx_${word(43)}`,
    `pha_${word(57)}`,
    `phr_${word(49)}`,
  ]),
  row(
    "pganalyze-key",
    ["pgar_", "pgaw_"],
    /pga[rw]_[0-9A-Za-z]{27}/y,
    "https://pganalyze.com/docs/api",
    () => `pgar_${word(27)}`,
  ),
  row(
    "rootly-key",
    "rootly_",
    /rootly_[0-9a-f]{64}/y,
    "https://docs.rootly.com/api-reference/overview",
    () => `rootly_${hex(64)}`,
  ),
  row(
    "new-relic-region-license-key",
    "NRAL",
    /[a-z]{2}[0-9]{2}xx[0-9A-Za-z]{30}NRAL/y,
    "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    () => `eu01xx${hex(30)}NRAL`,
    { at: 36 },
  ),
  row(
    "new-relic-admin-key",
    "NRAA-",
    /NRAA-[0-9a-f]{27}/y,
    "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    () => `NRAA-${hex(27)}`,
  ),
  row(
    "pixie-key",
    ["px-dep-", "px-api-"],
    /px-(?:dep|api)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/y,
    "https://docs.px.dev/reference/admin/deploy-keys/",
    () => [`px-dep-${uuid()}`, `px-api-${uuid()}`],
  ),
  row(
    "segment-token",
    "sgp_",
    /sgp_[0-9A-Za-z]{64}/y,
    "https://segment.com/docs/api/public-api/",
    () => `sgp_${word(64)}`,
  ),
  row(
    "coralogix-key",
    ["cxtp_", "cxup_"],
    /cx[tu]p_[0-9A-Za-z]{30}/y,
    "https://coralogix.com/docs/user-guides/account-management/api-keys/api-keys/",
    () => `cxtp_${word(30)}`,
    // Web pages hold such a key, to send measurements of their visitors.
    { strength: "likely" },
  ),
  row(
    "checkly-key",
    "cu_[0-9a-f]",
    /cu_[0-9a-f]{32}/y,
    "https://www.checklyhq.com/docs/accounts-and-users/creating-api-key/",
    () => `cu_${hex(32)}`,
    // Elsewhere ids of users have this form.
    { strength: "likely" },
  ),
  row(
    "wakatime-key",
    "waka_",
    /waka_(?:sec_|tok_|ref_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/y,
    "https://wakatime.com/developers",
    () => `waka_${uuid()}`,
  ),
];
