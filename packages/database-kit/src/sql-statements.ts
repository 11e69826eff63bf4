/** Tokens of SQL, which may contain semicolons. */
const TOKENS =
  /[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;|\w[\w$]*|[\s\S]/g;

const COMMENTS_AND_SPACE = /--[^\n]*|\/\*[\s\S]*?\*\/|\s+/g;

/**
 * Splits a script into statements, in order, each with the comments before it and without its semicolon. Function
 * bodies must be quoted (with quotes or dollar signs); `BEGIN ATOMIC` and nested comments are not supported.
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
