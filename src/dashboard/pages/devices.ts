export const devicePages = [];
