/** Whether scripts of every origin may read a path: what tenants publish, and previews, but not links to documents. */
export const isPublicReading = (path: string): boolean => /^\/public\/(?!links\/)/.test(path);
