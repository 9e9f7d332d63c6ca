/**
 * Packs: chosen files of a team's brain published for everybody: making, ranking, finding and handing them out, and what the
 * operators of the installation decide about them.
 * Not here: the brains that packs are made from (brain), the errors files that tell whether its rules helped (defects), the pages.
 */
export { isOfPack, judgeSource } from "./choose.ts";
export { type Curation, curatePack, listAllPacks, listPublishers } from "./curate.ts";
export { archivePath, downloadPack, installCommand, installFolder } from "./download.ts";
export { draftPack, type PackDraft, type PackRequest } from "./draft.ts";
export type { Pack, PackEntry } from "./entry.ts";
export { explore } from "./explore.ts";
export { findOwnPack, getPack, listPacks, listTeamPacks, type OwnPack, whyNotOffered } from "./list.ts";
export { publishPack } from "./publish.ts";
export { PACK_RULES } from "./rules.ts";
