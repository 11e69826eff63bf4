import {
  bool,
  clamped,
  int,
  optional,
  readTexts,
  shape,
  text,
  validate,
  withDefault,
} from './index.ts';

describe('readTexts', () => {
  const Query = shape({
    page: withDefault(int(1, 9), 1),
    all: optional(bool()),
    q: optional(text(9)),
  });

  test('converts text to numbers and booleans only for fields of these types', () => {
    expect(readTexts(Query, { page: '2', all: 'true', q: '7' })).toEqual({
      page: 2,
      all: true,
      q: '7',
    });
  });

  test('a number of any length is converted, so that it can be clamped', () => {
    const Page = shape({ page: clamped(1, 100) });
    for (const [page, moved] of [
      ['99999999999999999999', 100],
      ['-99999999999999999999', 1],
    ]) {
      expect(validate(Page, readTexts(Page, { page }))).toEqual({
        ok: true,
        value: { page: moved },
      });
    }
  });

  test.each(['1.5', '1e3', 'two', ''])('the error for %j asks for an integer', (page) => {
    for (const field of [int(1, 9), clamped(1, 9)]) {
      const Page = shape({ page: field });
      expect(validate(Page, readTexts(Page, { page }))).toEqual({
        ok: false,
        errors: { page: ['page must be an integer'] },
      });
    }
  });

  test('unknown fields are kept, so that validation rejects them', () => {
    expect(readTexts(Query, { constructor: '1' })).toEqual({ constructor: '1' });
  });

  test.each(['two', '1e3', '0x1', '', ' 1', '1.0', ['1', '2']])(
    'keeps %j, so that validation rejects it by name',
    (page) => {
      expect(validate(Query, readTexts(Query, { page }))).toMatchObject({
        errors: { page: [expect.any(String)] },
      });
    },
  );
});
