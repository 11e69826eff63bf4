import { splitStatements } from './sql-statements.ts';

test('Statements end at semicolons, and empty statements are dropped', () => {
  expect(splitStatements(' SELECT 1;; SELECT 2\n;\n')).toEqual(['SELECT 1', 'SELECT 2']);
  expect(splitStatements('-- nothing; here\n/* nor; here */ ;')).toEqual([]);
});

test.each([
  ['a string', "SELECT ';', 'it''s;'"],
  ['a string with escapes', "SELECT E'\\';', e'a\\\\'"],
  ['a quoted name', 'SELECT 1 AS "a;""b"'],
  ['the body of a function', 'DO $$ BEGIN NULL; END $$'],
  ['a body within a body', 'DO $a$ BEGIN EXECUTE $$ SELECT 1; $$; END $a$'],
  ['a comment', 'SELECT 1 -- one; two\n + 1'],
  ['a comment of several lines', 'SELECT /* one;\n two */ 1'],
])('A semicolon in %s does not end the statement', (_, statement) => {
  expect(splitStatements(`${statement};\nSELECT 2;`)).toEqual([statement, 'SELECT 2']);
});

test('A dollar sign in a name or a parameter does not begin a quoted body', () => {
  expect(splitStatements('SELECT a$b$ FROM t; SELECT $1; SELECT c$b$ FROM t')).toEqual([
    'SELECT a$b$ FROM t',
    'SELECT $1',
    'SELECT c$b$ FROM t',
  ]);
});
