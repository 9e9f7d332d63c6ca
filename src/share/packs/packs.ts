/**
 * Catalog: brain packs, which are chosen files of a team's brain published for everybody: making, ranking, finding and handing
 * them out, and what the operators of the installation decide about them.
 * Not here: the brains that packs are made from (brain), the errors files that tell whether its rules helped (defects), the pages.
 */
export { isOfPack, judgeSource } from "./choose.ts";
export { leaksText } from "./clean.ts";
export { type Curation, curatePack, findAnyPack, listAllPacks, listPublishers, verifyPublisher } from "./curate.ts";
export { downloadPack } from "./download.ts";
export { draftPack, type PackDraft, type WantedPack } from "./draft.ts";
export type { Pack, PackEntry } from "./entry.ts";
export { type Explored, explore } from "./explore.ts";
export { archivePath, installCommand, installFolder } from "./install.ts";
export { getPack, getTeamPack, listPacks, listTeamPacks, type OwnPack, whyNotOffered, whyRemoved } from "./list.ts";
export { publishPack } from "./publish.ts";
export type { Factor } from "./rank.ts";
export { LICENSES, MAX_TAGS, NO_LICENSE } from "./rules.ts";
