/** Rows for package and image registries. */
import { hex, lower, PARTNER_LIST, type Rule, row, word } from "./rule.ts";

const JFROG = "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens";

export const PACKAGE_RULES: readonly Rule[] = [
  row(
    "npm-token",
    "npm",
    "npm_",
    /npm_[0-9A-Za-z]{36,64}/iy,
    "https://docs.npmjs.com/about-access-tokens",
    () => `npm_${word(36)}`,
  ),
  row(
    "pypi-token",
    "PyPI",
    "pypi-AgE",
    /pypi-AgE[\w-]{50,1000}/y,
    "https://pypi.org/help/#apitoken",
    () => `pypi-AgEIcHlwaS5vcmc${word(140)}`,
    { glued: true },
  ),
  row(
    "rubygems-key",
    "RubyGems",
    "rubygems_",
    /rubygems_[0-9A-Za-z]{48}/y,
    "https://guides.rubygems.org/api-key-scopes/",
    () => `rubygems_${hex(48)}`,
  ),
  row(
    "crates-io-token",
    "crates.io",
    "cio",
    /cio[0-9A-Za-z]{32}/y,
    "https://doc.rust-lang.org/cargo/reference/publishing.html",
    () => `cio${word(32)}`,
    { strength: "likely" },
  ),
  row(
    "nuget-key",
    "NuGet",
    "oy2",
    /oy2[0-9a-z]{43}/y,
    "https://learn.microsoft.com/en-us/nuget/nuget-org/publish-a-package",
    () => `oy2${lower(43)}`,
  ),
  row(
    "clojars-token",
    "Clojars",
    "CLOJARS_",
    /CLOJARS_[0-9a-z]{60}/iy,
    "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens",
    () => `CLOJARS_${hex(60)}`,
  ),
  row("hex-pm-key", "Hex", "hex_", /hex_[0-9a-f]{32}/y, PARTNER_LIST, () => `hex_${hex(32)}`),
  row(
    "packagist-token",
    "Packagist",
    "packagist_",
    /packagist_[a-z]{2,4}_[0-9a-f]{40,100}/y,
    PARTNER_LIST,
    () => `packagist_out_${hex(68)}`,
  ),
  row(
    "docker-token",
    "Docker",
    ["dckr_pat_", "dckr_oat_"],
    /dckr_[po]at_[\w-]{27,32}/y,
    "https://docs.docker.com/security/access-tokens/",
    () => `dckr_pat_${word(27)}`,
  ),
  row("jfrog-key", "JFrog", "AKCp", /AKCp[0-9A-Za-z]{65,73}/y, JFROG, () => `AKCp${word(69)}`),
  row("jfrog-reference-token", "JFrog", "cmVmd", /cmVmd[0-9A-Za-z]{59}/y, JFROG, () => `cmVmdGtu${word(56)}`),
];
