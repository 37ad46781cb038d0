/** What a write says of the administrators that it leaves. */

export interface KeyAdministration {
  /**
   * An API key in force administers the tenant by a Seat that the write does not change. Found in the transaction of the
   * write, so that most writes take no further question. False: nothing is known, and `isAdministered` has the answer.
   */
  readonly keyAdministers: boolean
}
