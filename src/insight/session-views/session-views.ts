/**
 * Session views: who opened whose session, once for a person, a session and a day.
 * Not here: what programs read with tokens (ask, api-tokens), who may open what (the pages).
 */
export { noteView, sessionViewErasure, viewsBy, viewsOfDevices, viewsOfSession } from "./views.ts";
