/** Two tenants with a real provider each, and the secrets that were seen: the part that all worlds of sign-in share. */

import type { Test } from 'tap'
import { type Account, CLIENT_SECRET, type ProviderOptions, TestProvider } from '../oidc/provider.ts'
import { Visitor } from './visitor.ts'

interface Providers {
  readonly acme: TestProvider
  readonly globex: TestProvider
}

export class SignInTenants implements Providers {
  /** The gateway's, for browsers. */
  readonly origin: string
  readonly acme: TestProvider
  readonly globex: TestProvider
  readonly secrets = new Set<string>([CLIENT_SECRET])

  constructor(origin: string, { acme, globex }: Providers) {
    this.origin = origin
    this.acme = acme
    this.globex = globex
  }

  visitor(user = 'alice'): Visitor {
    return new Visitor(user, this.origin, this.secrets)
  }

  /** Adds or changes a user at a provider. */
  user(name: string, claims: Account = {}, provider: TestProvider = this.acme): void {
    provider.user(name, claims)
  }
}

export async function startProviders(
  t: Test,
  origin: string,
  more: Partial<ProviderOptions> = {},
): Promise<Providers> {
  const options = { redirectUri: `${origin}/auth/oidc/callback`, ...more }
  const [acme, globex] = await Promise.all([
    TestProvider.start(t, options),
    TestProvider.start(t, { ...options, claimsInIdToken: false }),
  ])
  return { acme, globex }
}
