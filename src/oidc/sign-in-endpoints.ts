/**
 * The sign-in endpoints: the fields that each reads, and the answers that it gives. Loads nothing of OpenID
 * Connect.
 */

import type { EndpointDescription } from '../../seats-admin/model/endpoint-description.ts'
import {
  count,
  flag,
  freeObject,
  list,
  named,
  object,
  oneOf,
  strictObject,
  text,
  textItem,
  type ValueOf,
} from '../../seats-admin/model/json-schema.ts'
import type { ErrorCode } from '../model/errors.ts'
import { SET_ERRORS } from './signals/set-errors.ts'

const requiredText = (description: string) => text(description, { minLength: 1 })
const tenant = text('A tenant with an identity provider.', { minLength: 1, examples: ['acme'] })
const seconds = count('Seconds until it expires.')

export const loginFields = strictObject(
  { tenant },
  {
    return_to: text(
      'Of a browser: the path of the gateway that it is redirected to after the sign-in, with a session cookie.',
      { examples: ['/app/'] },
    ),
    prompt: oneOf(
      ['login', 'select_account'],
      'What the provider asks of a user who is signed in there already: to sign in again, or to choose an account.',
    ),
  },
)
export const refreshFields = strictObject({
  refresh_token: requiredText('The one of the latest answer. It is good once.'),
})
export const validateFields = strictObject({
  tenant,
  id_token: requiredText("An ID token of the tenant's provider."),
})
export const logoutFields = strictObject(
  {},
  {
    refresh_token: text('Any one of the session, used ones too. A browser sends its session cookie instead.'),
  },
)

const loginAnswer = object({
  authorization_url: text('Where a browser signs in.'),
  state: text('The state of the sign-in.'),
  expires_in: seconds,
})

const tokenAnswer = named(
  'Token',
  'A token of the gateway, and the user that signed in.',
  object(
    {
      access_token: text('A bearer token of the gateway.'),
      token_type: oneOf(['Bearer'], 'How the token is sent.'),
      expires_in: seconds,
      user: object(
        {
          sub: text('Identifies the user within the tenant.'),
          tenant_id: text('The tenant.', { examples: ['acme'] }),
          seats: list(textItem({ examples: ['Viewer'] }), 'Names of the Seats that the token carries.'),
        },
        {
          email: text('For information. Absent where the provider says that it is not verified.'),
          name: text('For information.'),
        },
      ),
    },
    { refresh_token: text('Good once, for the next token. Absent where the provider issued none.') },
  ),
)
export type TokenAnswer = ValueOf<typeof tokenAnswer>

const validateAnswer = object({
  valid: flag('Always true.'),
  claims: freeObject('The claims of the ID token.'),
  seats: list(textItem({ examples: ['Viewer'] }), 'Names of the Seats that a token would carry.'),
  hash_perm: list(textItem({ examples: ['main:Viewer'] }), 'The claim `hash_perm` of a token.'),
})

const logoutAnswer = object(
  { logged_out: flag('Always true.') },
  { end_session_url: text('Where a browser ends the session at the provider, if that has such an address.') },
)

const backchannelError = object({
  error: oneOf(
    ['invalid_request', 'temporarily_unavailable'],
    'Section 2.8 of OpenID Connect Back-Channel Logout 1.0.',
  ),
  error_description: text('What is wrong, for people.'),
})

export interface AnswersOf {
  readonly backchannelLogout: ValueOf<typeof backchannelError>
  readonly sharedSignals: ValueOf<typeof setError>
  readonly login: ValueOf<typeof loginAnswer>
  readonly validate: ValueOf<typeof validateAnswer>
  readonly logout: ValueOf<typeof logoutAnswer>
}

const setError = object({
  err: oneOf(SET_ERRORS, 'Section 2.4 of RFC 8935.'),
  description: text('What is wrong, for people.'),
})

interface SignInEndpoint extends EndpointDescription<ErrorCode> {
  /** A browser gets refusals as a page. */
  readonly pages: boolean
  /** Bytes of a body; left out: those of most endpoints. */
  readonly maxBody?: number
  /** A browser's form gets this status with a page; left out: none. */
  readonly page?: number
}

const backchannelLogout = {
  method: 'POST',
  details:
    'OpenID Connect Back-Channel Logout 1.0. The provider sends the token, which names a session, a user or both.',
  body: {
    // Further parameters are ignored (section 2.5).
    schema: object({ logout_token: text('The logout token of the provider.', { minLength: 1 }) }),
    types: ['form'],
  },
  answers: { 200: null, 400: backchannelError },
  codes: [],
  pages: false,
} as const

const tenantParams = { tenant: text('The tenant.', { examples: ['acme'] }) }

const globalTokenRevocation = {
  method: 'POST',
  path: '/auth/oidc/global-token-revocation/{tenant}',
  operation: 'revokeGlobally',
  summary: 'Revokes what a user was given, for the identity provider of the tenant.',
  details:
    'Global Token Revocation (draft-parecki-oauth-global-token-revocation-06), with a token of the provider in `Authorization`. It is answered once no instance accepts what the user was given, and each has cut what was open.',
  params: tenantParams,
  body: {
    schema: object({
      sub_id: object(
        { format: oneOf(['iss_sub', 'email', 'opaque'], 'How the user is named (RFC 9493).') },
        {
          iss: text('With `iss_sub`: the issuer of the provider.'),
          sub: text('With `iss_sub`: the `sub` of the user.'),
          email: text('With `email`: an address that the provider gave.'),
          id: text('With `opaque`: the `sub` of the user.'),
        },
      ),
    }),
  },
  answers: { 204: null },
  codes: ['credentials_missing', 'token_invalid', 'subject_foreign', 'user_not_found', 'subject_unsupported'],
  pages: false,
} as const

/** Twice the size of a token, so that a token that is too large is answered as RFC 8935 says. */
const MAX_EVENT_BODY = 512 * 1024

const sharedSignals = {
  method: 'POST',
  path: '/auth/ssf/{tenant}',
  operation: 'pushEvent',
  summary: 'Takes an event of the identity provider of the tenant.',
  details:
    'Push delivery of the Shared Signals Framework 1.0 (RFC 8935): a security event token with one event. It is answered once no instance decides otherwise.',
  params: tenantParams,
  body: { schema: text('The security event token, at most 256 KiB.'), types: ['event'] },
  maxBody: MAX_EVENT_BODY,
  answers: { 202: null, 400: setError },
  codes: [],
  pages: false,
} as const

const tokenCodes = ['token_invalid', 'token_expired', 'token_not_yet_valid'] as const

/** None may occur more than once (RFC 6749, section 3.1). Others are ignored. */
export const callbackParameters = {
  state: { schema: text('The state of the sign-in.') },
  code: { schema: text('The authorization code.') },
  iss: { schema: text('The issuer (RFC 9207), where the provider sends it.') },
  error: { schema: text('Why the provider did not sign the user in.') },
}

const callback = {
  method: 'GET',
  query: callbackParameters,
  answers: { 200: tokenAnswer, 303: null },
  codes: ['input_invalid', 'credentials_missing', 'caller_blocked', ...tokenCodes],
  pages: true,
} as const

export const SIGN_IN_ENDPOINTS: readonly SignInEndpoint[] = [
  {
    method: 'POST',
    path: '/auth/oidc/login',
    operation: 'beginSignIn',
    summary: 'Begins a sign-in. A form is redirected to the provider.',
    details:
      'JSON is answered with the address at the provider, to be opened in a browser. The sign-in must be finished within ten minutes, by the browser that has its cookies.',
    body: { schema: loginFields, types: ['json', 'form'] },
    answers: { 200: loginAnswer, 303: null },
    codes: ['origin_refused'],
    pages: true,
  },
  {
    ...callback,
    path: '/auth/oidc/callback',
    operation: 'finishSignIn',
    summary: 'Finishes a sign-in: the provider redirects the browser here.',
    details:
      'A program gets a token. A browser that began at a page gets the session cookie and returns to the page.',
  },
  {
    // One redirect URI a tenant prevents mix-up attacks between providers (RFC 9700, section 2.1).
    ...callback,
    path: '/auth/oidc/callback/{tenant}',
    operation: 'finishSignInOfTenant',
    summary: 'Finishes a sign-in at the redirect URI of one tenant.',
    details:
      'A redirect URI for each tenant prevents mix-up attacks between providers (RFC 9700, section 2.1).',
    params: tenantParams,
  },
  {
    method: 'POST',
    path: '/auth/oidc/validate',
    operation: 'validateIdToken',
    summary: 'Verifies an ID token, and tells the Seats of its user. Changes nothing.',
    details: 'No session begins, and no token is issued.',
    body: { schema: validateFields, types: ['json', 'form'] },
    answers: { 200: validateAnswer },
    codes: tokenCodes,
    pages: false,
  },
  {
    method: 'POST',
    path: '/auth/oidc/refresh',
    operation: 'refreshToken',
    summary: 'Exchanges a refresh token for a new token and a new refresh token.',
    details:
      'A refresh token is for one use. A second use by any client ends the session, except after a 503.',
    body: { schema: refreshFields, types: ['json', 'form'] },
    answers: { 200: tokenAnswer },
    codes: ['caller_blocked', 'token_revoked', ...tokenCodes],
    pages: false,
  },
  {
    method: 'POST',
    path: '/auth/oidc/logout',
    operation: 'signOut',
    summary:
      'Ends a session everywhere. A form is redirected to the provider, or to the page after the logout; without both it gets a page.',
    details:
      'The session is that of the cookie, or of the refresh token in the body. Once it has been answered, no instance accepts its cookie or tokens.',
    body: { schema: logoutFields, types: ['json', 'form'], optional: true },
    answers: { 200: logoutAnswer, 303: null },
    page: 200,
    codes: ['origin_refused'],
    pages: false,
  },
  {
    ...backchannelLogout,
    path: '/auth/oidc/backchannel-logout',
    operation: 'logOutAtProvider',
    summary: 'Ends the sessions that a logout token of the provider names.',
  },
  {
    ...backchannelLogout,
    path: '/auth/oidc/backchannel-logout/{tenant}',
    operation: 'logOutAtProviderOfTenant',
    summary: 'Ends the sessions of one tenant that a logout token of the provider names.',
    params: tenantParams,
  },
  globalTokenRevocation,
  sharedSignals,
]
