/**
 * Saved views: what people ask lists for, kept under a name for themselves or for their team.
 * Not here: what the lists are asked for, which their pages read as they read any address.
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
