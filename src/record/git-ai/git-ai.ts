/**
 * Git AI: the backend that teams who use it (https://github.com/git-ai-project/git-ai) can keep its notes in, by its own contract
 * (docs/notes-backend-spec.md there): a note for each commit, of which lines which agent's session wrote.
 * Not here: how notes are stored (traces), what they say (formats), what is made of it (causes).
 */
export { readNotes } from "./prepare.ts";
