import { CommonPasswords } from './common-passwords.ts';

const common = new CommonPasswords();

test.each([
  'password',
  'PASSWORD',
  'Password1234!',
  'qwertyuiop',
  'dragon',
  'iloveyou2',
  'Monkey_2026',
])('%s is common', (password) => {
  expect(common.includes(password)).toBe(true);
});

test.each(['', '!!!!', 'Correct-horse-7-battery', 'passwordpasswordpassword', 'ord', 'a\nb'])(
  '"%s" is not',
  (password) => {
    expect(common.includes(password)).toBe(false);
  },
);
