/** What SQL reads as one token, however many semicolons it contains. */
const TOKENS =
  /[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;|\w[\w$]*|[\s\S]/g;

const COMMENTS_AND_SPACE = /--[^\n]*|\/\*[\s\S]*?\*\/|\s+/g;

/**
 * The statements of a script, in order, each with the comments before it and without its semicolon. Bodies of
 * functions are read whole between quotes or dollar signs; `BEGIN ATOMIC` and nested comments are not supported.
 */
export function splitStatements(script: string): string[] {
  const statements = [''];
  for (const [token] of script.matchAll(TOKENS)) {
    if (token === ';') statements.push('');
    else statements.push(`${statements.pop()}${token}`);
  }
  return statements
    .map((statement) => statement.trim())
    .filter((statement) => statement.replace(COMMENTS_AND_SPACE, '') !== '');
}
