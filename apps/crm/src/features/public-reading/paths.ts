/** Whether a path is one of public reading, which scripts of every origin may read; links and previews are not. */
export const isPublicReading = (path: string): boolean =>
  /^\/public\/(?!links\/|previews\/)/.test(path);
