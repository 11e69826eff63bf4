export { checkPattern, type PatternCheck, type RegisteredPermission } from './check-pattern.ts';
export { type Decision, decide, type Policy } from './decide.ts';
export { type Change, type Effort, firstGrantBeyond, grantsBeyond, type Rights } from './grants.ts';
export { covers, coversPattern, type ParsedPattern, parsePattern, WILDCARD } from './pattern.ts';
