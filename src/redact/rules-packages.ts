/** Rows for package and image registries. */
import { hex, lower, PARTNER_LIST, type Rule, row, uuid, word } from "./rule.ts";

const JFROG = "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens";

export const PACKAGE_RULES: readonly Rule[] = [
  row(
    "npm-token",
    "npm_",
    /npm_[0-9A-Za-z]{36,64}/iy,
    "https://docs.npmjs.com/about-access-tokens",
    () => `npm_${word(36)}`,
  ),
  row(
    "pypi-token",
    "pypi-AgE",
    /pypi-AgE[\w-]{50,1000}/y,
    "https://pypi.org/help/#apitoken",
    () => `pypi-AgEIcHlwaS5vcmc${word(140)}`,
    { glued: true },
  ),
  row(
    "rubygems-key",
    "rubygems_",
    /rubygems_[0-9A-Za-z]{48}/y,
    "https://guides.rubygems.org/api-key-scopes/",
    () => `rubygems_${hex(48)}`,
  ),
  row(
    "crates-io-token",
    "cio",
    /cio[0-9A-Za-z]{32}/y,
    "https://doc.rust-lang.org/cargo/reference/publishing.html",
    () => `cio${word(32)}`,
    { strength: "likely" },
  ),
  row(
    "nuget-key",
    "oy2",
    /oy2[0-9a-z]{43}/y,
    "https://learn.microsoft.com/en-us/nuget/nuget-org/publish-a-package",
    () => `oy2${lower(43)}`,
  ),
  row(
    "clojars-token",
    "CLOJARS_",
    /CLOJARS_[0-9a-z]{60}/iy,
    "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
    () => `CLOJARS_${hex(60)}`,
  ),
  row("hex-pm-key", "hex_", /hex_[0-9a-f]{32}/y, PARTNER_LIST, () => `hex_${hex(32)}`),
  row(
    "packagist-token",
    "packagist_",
    /packagist_[a-z]{2,4}_[0-9a-f]{40,100}/y,
    PARTNER_LIST,
    () => `packagist_out_${hex(68)}`,
  ),
  row(
    "docker-token",
    ["dckr_pat_", "dckr_oat_"],
    /dckr_[po]at_[\w-]{27,32}/y,
    "https://docs.docker.com/security/access-tokens/",
    () => `dckr_pat_${word(27)}`,
  ),
  row("jfrog-key", "AKCp", /AKCp[0-9A-Za-z]{65,73}/y, JFROG, () => `AKCp${word(69)}`),
  row("jfrog-reference-token", "cmVmd", /cmVmd[0-9A-Za-z]{59}/y, JFROG, () => `cmVmdGtu${word(56)}`),
  row(
    "nexus-repository-token",
    "NpmToken.",
    /NpmToken\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/y,
    "https://help.sonatype.com/en/npm-security.html",
    () => `NpmToken.${uuid()}`,
  ),
  row(
    "socket-key",
    "sktsec_",
    /sktsec_[\w-]{30,64}_api/y,
    "https://docs.socket.dev/docs/api-keys",
    () => `sktsec_${word(40)}_api`,
  ),
  row(
    "depot-token",
    ["depot_org_", "depot_project_", "depot_user_"],
    /depot_(?:org|project|user)_[0-9a-f]{40,80}/y,
    "https://depot.dev/docs/cli/authentication",
    () => `depot_org_${hex(64)}`,
  ),
];
