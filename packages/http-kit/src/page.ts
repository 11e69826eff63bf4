/** The page of a list that a request asks for. */
export interface PageRequest {
  readonly page: number;
  readonly perPage: number;
}

/** The number of the last page; 1 for an empty list. */
export const lastPage = (total: number, perPage: number): number =>
  Math.max(1, Math.ceil(total / perPage));

/** The requested page; the last one if the list ends before it (decision B3). */
export const pageWithin = ({ page, perPage }: PageRequest, total: number): number =>
  Math.min(page, lastPage(total, perPage));
