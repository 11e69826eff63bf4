/** RFC 6749 appendix A.1. Other values identify no client and are never looked up in the database. */
export const CLIENT_ID = /^[\x20-\x7e]{1,200}$/;
