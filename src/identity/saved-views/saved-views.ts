/**
 * Saved views: filters of lists, kept under a name for one person or for their team.
 * Not here: the meaning of the filters, which pages read as they read any address.
 */
export {
  deleteView,
  isSameQuery,
  listViews,
  PLACES,
  saveView,
  type ViewPlace,
  viewErasure,
} from "./views.ts";
