/** What every session store must do, the reference too. */

export * from '../seats-admin/store/session-conformance.ts'
