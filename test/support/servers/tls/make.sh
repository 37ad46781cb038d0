#!/bin/sh
# Makes the certificates of this folder anew, with keys that protect nothing. The authority's key is thrown away.
# Run it here, by hand, with OpenSSL 3; nothing calls it.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/config" <<'END'
[ca]
default_ca = authority
[authority]
new_certs_dir = $ENV::WORK
database = $ENV::WORK/index
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
organizationName = optional
[req]
distinguished_name = none
[none]
[ca_extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server_extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[client_extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[expired_extensions]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = clientAuth
END
: > "$work/index"
export WORK="$work"

# name, common name, then how it is signed
certificate() {
  name=$1 subject="/O=Seatgate tests only/CN=$2"
  shift 2
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt > "$work/$name-key.pem"
  openssl req -new -config "$work/config" -key "$work/$name-key.pem" -subj "$subject" -out "$work/$name.csr"
  openssl ca -batch -notext -config "$work/config" -extensions "${name}_extensions" \
    -startdate 20200101000000Z -enddate 21260101000000Z -in "$work/$name.csr" -out "$work/$name.pem" "$@" 2> /dev/null
}

certificate ca 'Seatgate test authority' -selfsign -keyfile "$work/ca-key.pem"
certificate server localhost -cert "$work/ca.pem" -keyfile "$work/ca-key.pem"
certificate client seatgate -cert "$work/ca.pem" -keyfile "$work/ca-key.pem"
# The last value of an option counts.
certificate expired seatgate -selfsign -keyfile "$work/expired-key.pem" -enddate 20210101000000Z

note='For the tests of Seatgate only, and public: it protects nothing. Made by make.sh.'
for name in ca server client expired server-key client-key expired-key; do
  { echo "$note"; cat "$work/$name.pem"; } > "$name.pem"
done
