import type { Fields, OutOf } from '@tessera/fields';
import type { Limits, StreamedBody } from '@tessera/http-kit';
import type { Content } from '../http/html.ts';
import type { FormState } from './form.ts';
import type { Brand, View } from './layout.ts';
import type { NewPasswordField } from './problems.ts';
import type { FileField, FilePlace } from './read-form.ts';
import type { PageReauthentication } from './reauthentication.ts';
import type { Visit, VisitDependencies } from './visit.ts';

/** The declaration of a page: the data it needs, its view and its form. */
export interface Page<Data, F extends Fields> {
  readonly path: string;
  /** Rate limit class of the form, that of the equivalent JSON route; default `form`. */
  readonly limit?: string;
  /**
   * Opening the page and submitting its form need a recent authentication (decision I19); the page asks for it.
   */
  readonly isSensitive?: boolean;
  /** Only submitting the form may need a recent authentication. */
  readonly hasSensitiveForm?: boolean;
  /**
   * The form does not act for the signed-in user, so it remains valid when another tab signs in as another
   * user.
   */
  readonly isForAnybody?: boolean;
  /** Loads the data of the page. Throws `Redirect` if the visitor must go to another page. */
  open(visit: Visit): Promise<Data> | Data;
  view(visit: Visit, data: Data, form: FormState): View;
  readonly form?: {
    readonly fields: F;
    /** The field with a new password, whose rules are reported together with other errors. */
    readonly newPassword?: NewPasswordField;
    /** The upload field and its size limit. */
    readonly file?: FileField & {
      /**
       * Takes a place for the file before the form is read; throws if there is none. `announcedSize` is the size of the form
       * in bytes; null if the browser did not announce it.
       */
      begin(data: Data, announcedSize: number | null): Promise<FilePlace>;
    };
    /** Whether the form is answered with a file. */
    readonly isDownload?: boolean;
    /**
     * Performs the action and returns the URL to go to, or a file to download, in which case the browser stays
     * on the page. `file` is the uploaded file, null if there is none.
     */
    submit(
      visit: Visit,
      given: OutOf<F>,
      data: Data,
      file: Buffer | null,
    ): Promise<string | FileDownload> | string;
  };
}

/** A file that is streamed to the browser. */
export interface FileDownload extends StreamedBody {
  readonly name: string;
}

/** A page with erased type parameters. */
export type AnyPage = Page<unknown, Fields>;

export const page = <Data, const F extends Fields = Record<never, never>>(
  written: Page<Data, F>,
): AnyPage => written as unknown as AnyPage;

export interface PageOptions extends VisitDependencies {
  readonly brand: Brand;
  /** Minimum length of a new password. */
  readonly minLength: number;
  readonly limits: Limits;
  readonly reauthentication: PageReauthentication;
  /** Banner above account pages. */
  readonly accountBanner: (visit: Visit) => Promise<Content>;
}
