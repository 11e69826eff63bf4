/** The extension of a name, also of two parts such as `.tar.gz`. */
const EXTENSION = /(?:\.[^\s.]{1,16}){1,2}$/u;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** The first `most` characters (code points), or fewer: what is seen as one character stays whole, if it is not longer itself. */
const firstOf = (text: string, most: number): string => {
  const characters = [...text];
  if (characters.length <= most) return text;
  const cut = characters.slice(0, most).join('');
  // The one in which the cut is begins before it, unless the cut is between two.
  const begin = graphemes
    .segment(characters.slice(0, 2 * most).join(''))
    .containing(cut.length)?.index;
  return begin ? cut.slice(0, begin) : cut;
};

/** The name of a file, cut to `most` characters. It keeps its extension, which programs are chosen by. */
export const cutName = (name: string, most: number): string => {
  if ([...name].length <= most) return name;
  const [extension = ''] = EXTENSION.exec(name) ?? [];
  const stem = firstOf(name.slice(0, name.length - extension.length), most - [...extension].length);
  return `${stem.trimEnd()}${extension}`;
};
