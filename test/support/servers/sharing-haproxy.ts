/** The address of HAProxy, by which the gateway knows it. */
export const HAPROXY_ADDRESS = '127.0.0.3'

/**
 * A configuration of HAProxy that shares its connections to the gateway among clients.
 *
 * @param gateway a port with TLS and HTTP/2
 */
export function sharingHaproxy(port: number, gateway: number): string {
  return `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option abortonclose
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  option forwardfor
  http-reuse always
  server one 127.0.0.1:${gateway} ssl verify none alpn h2 source ${HAPROXY_ADDRESS}
`
}
