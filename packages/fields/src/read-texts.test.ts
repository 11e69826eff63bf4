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

  test('reads numbers and booleans where the shape has them, and nothing else', () => {
    expect(readTexts(Query, { page: '2', all: 'true', q: '7' })).toEqual({
      page: 2,
      all: true,
      q: '7',
    });
  });

  test('a number of any length is one, so that it can be moved to its bound', () => {
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

  test.each(['1.5', '1e3', 'two', ''])(
    'what is asked for in the place of %j is an integer',
    (page) => {
      for (const field of [int(1, 9), clamped(1, 9)]) {
        const Page = shape({ page: field });
        expect(validate(Page, readTexts(Page, { page }))).toEqual({
          ok: false,
          errors: { page: ['page must be an integer'] },
        });
      }
    },
  );

  test('what is no field of the shape is left to be refused', () => {
    expect(readTexts(Query, { constructor: '1' })).toEqual({ constructor: '1' });
  });

  test.each(['two', '1e3', '0x1', '', ' 1', '1.0', ['1', '2']])(
    'leaves %j to fail by its name',
    (page) => {
      expect(validate(Query, readTexts(Query, { page }))).toMatchObject({
        errors: { page: [expect.any(String)] },
      });
    },
  );
});
