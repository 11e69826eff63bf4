import { shape, validate } from '@tessera/fields';
import { fileName, safeName } from './file-names.ts';

const accepted = (name: string): boolean => validate(shape({ name: fileName() }), { name }).ok;

test.each([
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['..', 'file'],
  ['%2e%2e', 'file'],
  ['%252E%252e', 'file'],
  ['..%2f..%2fpasswd', '.._.._passwd'],
  ['..%252f..%252Fpasswd', '.._.._passwd'],
  ['..%5cboot.ini', '.._boot.ini'],
  ['..%c0%afpasswd', '.._%afpasswd'],
  ['..%25c1%259cpasswd', '.._%259cpasswd'],
  ['..%e0%80%afpasswd', '.._0%afpasswd'],
  ['/etc/passwd', '_etc_passwd'],
  ['\\\\host\\share', '__host_share'],
  ['C:\\boot.ini', '__boot.ini'],
  ['c:boot.ini', '_boot.ini'],
  ['a.txt\0.exe', 'a.txt_.exe'],
  ['a%00.exe', 'a_.exe'],
  ['a\r\nb', 'a__b'],
  ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
])('The name %j is refused, and of an upload it becomes %j', (name, safe) => {
  expect([accepted(name), safeName(name), accepted(safe)]).toEqual([false, safe, true]);
});

test.each([
  'Árvíztűrő tükörfúrógép.pdf',
  '見積書.xlsx',
  'تقرير.docx',
  'Growth 100%.md',
  'a..b.txt',
  '.env',
  '👩‍💻.png',
  'Call at 10:30.txt',
])('The name %j stays as it is', (name) => {
  expect([accepted(name), safeName(name)]).toEqual([true, name]);
});

test('A name that is too long keeps its extension', () => {
  expect(safeName(`${'a'.repeat(300)}.pdf`)).toBe(`${'a'.repeat(251)}.pdf`);
  expect(safeName(`${'a/'.repeat(300)}.tar.gz`)).toMatch(/^(a_){124}\.tar\.gz$/);
});
