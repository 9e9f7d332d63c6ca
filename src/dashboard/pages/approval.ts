export const approvalPages = [];
