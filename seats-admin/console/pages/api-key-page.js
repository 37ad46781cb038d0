/** An API key: its owner, Seats, use, revocations and history. */

import { useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { signedIn } from '../credentials.js'
import { call } from '../gateway-calls.js'
import { History } from '../history.js'
import { keyState } from '../key-state.js'
import { useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Facts, Name, Time } from '../pieces.js'
import { Revocations } from '../revocation-list.js'
import { RevokeDialog } from '../revoke-dialog.js'
import { PageHeading, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').ApiKey} ApiKey */

const BACK = { href: hrefOf(['api-keys']), text: 'API keys' }

/** @param {{ rest: string[] }} props */
export function ApiKeyPage({ rest: [id = ''] }) {
  const [revoking, setRevoking] = useState(false)
  const [version, setVersion] = useState(0)
  const key = useLoaded(
    (signal) => call('GET', `/v1/api-keys/${encodeURIComponent(id)}`, { signal }),
    [id, version],
  )
  const { value } = key
  const isOwn = signedIn.value?.by === 'key' && signedIn.value.user === id
  return html`
    <${PageHeading} title=${value?.name ?? 'API key'} back=${BACK}>
      ${value && keyState(value) !== 'revoked' && html`<button type="button" class="button danger" onClick=${() => setRevoking(true)}>Revoke…</button>`}
    <//>
    ${whenLoaded(
      key,
      'API key',
      (value) =>
        html`<${Details} of=${value} />
          <${Revocations} subject=${{ api_key: id }} version=${version} />
          <${History} id=${id} version=${version} />`,
    )}
    ${
      revoking &&
      value &&
      html`<${RevokeDialog}
        subject=${{ api_key: id }}
        name=${value.name}
        self=${isOwn ? 'key' : null}
        onClose=${(/** @type {boolean} */ changed) => {
          setRevoking(false)
          if (changed) setVersion(version + 1)
        }}
      />`
    }
  `
}

/** @param {{ of: ApiKey }} props */
function Details({ of: key }) {
  const state = keyState(key)
  const { owner, revoked_at: revoked, expires_at: expires } = key
  return html`<div class="columns">
    <section>
      <h2>API key</h2>
      <${Facts}
        rows=${[
          ['Id', html`<code>${key.id}</code>`],
          ['State', html`<span class=${`badge ${state}`}>${state}</span>`],
          ...(revoked ? [['Revoked', html`<${Time} at=${revoked} />`]] : []),
          ['Expires', html`<${Time} at=${expires} none="never" />`],
          ['Last used', html`<${Time} at=${key.last_used_at} none="no use recorded" />`],
          ['Created', html`<${Time} at=${key.created_at} /> by <${Who} id=${key.created_by} />`],
        ]}
      />
      <p class="links"><a href=${hrefOf(['audit'], { actor: key.id })}>What it changed</a></p>
    </section>
    <section>
      <h2>Owner</h2>
      ${
        owner === undefined
          ? html`<p class="quiet">
              No one: only a revocation of the key, or of the whole tenant with its API keys, revokes it.
            </p>`
          : html`<p>
                <a href=${hrefOf(['users'], { sub: owner })}><${Name} of=${owner} /></a>
              </p>
              <p>
                A block of the owner refuses the key, and a revocation of the owner revokes it. It acts
                through its own Seats.
              </p>`
      }
    </section>
    <section>
      <h2>Seats</h2>
      ${key.seats.length === 0 && html`<p class="quiet">None: it may do nothing.</p>`}
      <ul class="names">
        ${key.seats.map(
          (seat) =>
            html`<li key=${seat}>
              <a href=${hrefOf(['seats'], { name: seat })}><${Name} of=${seat} /></a>
            </li>`,
        )}
      </ul>
    </section>
  </div>`
}
