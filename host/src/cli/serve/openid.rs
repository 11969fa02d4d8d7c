//! How people sign in by an OpenID Connect provider, as the configuration writes it.

use std::path::PathBuf;

use placewright_document::form::{Fields, Key, Shape, TEXT, key, required};
use placewright_document::{Problems, Table, Word, words};
use placewright_http::{GroupRole, Role};

use super::tokens::{clusters, quoted};

/// Key of the list of roles.
pub(super) const KEY: &str = "openid-roles";

/// The options without a default that are of use only with a provider.
pub(super) const OPTIONS: [&str; 4] = [
    "openid-client",
    "openid-client-secret",
    "openid-certificates",
    "public-url",
];

/// The keys of a role.
pub(super) const FORM: &[Key] = &[
    required("group", TEXT, "The group, as the provider names it"),
    required(
        "role",
        Shape::Word(words::<Role>),
        "What its members may do",
    ),
    key(
        "clusters",
        Shape::Texts,
        "The clusters that they may do it on; all if not given",
    ),
];

/// Which provider people sign in with.
#[derive(Debug, Clone)]
pub(crate) struct OpenIdSettings {
    /// Its issuer identifier.
    pub issuer: String,
    /// The name that it knows the server by.
    pub client: String,
    /// The file of the secret that it gave with it.
    pub secret: Option<PathBuf>,
    /// The file of the authorities that its certificate may be of.
    pub certificates: Option<PathBuf>,
    /// Where browsers reach the server.
    pub public_url: String,
    /// What is asked for, with spaces between.
    pub scopes: String,
    /// The claim that names a person.
    pub name: String,
    /// The claim that lists groups.
    pub groups: String,
    /// How long somebody is signed in, in seconds.
    pub session: i64,
}

/// Read the list of roles.
pub(super) fn read(tables: &[&Table], problems: &mut Problems) -> Vec<GroupRole> {
    let mut roles = Vec::new();
    for table in tables {
        let fields = Fields::read(table, FORM, "a role of a group", problems);
        let place = |key| fields.place_of(key).unwrap_or(fields.place);
        let group = fields.text("group").filter(|group| {
            let is_empty = group.trim().is_empty();
            if is_empty {
                problems.add(place("group"), "the name of a group must not be empty");
            }
            !is_empty
        });
        let clusters = clusters(&fields, problems);
        if let (Some(group), Some(role)) = (group, fields.word("role")) {
            roles.push(GroupRole {
                group: group.to_string(),
                role,
                clusters,
            });
        }
    }
    roles
}

/// A role as it stands in a configuration file.
pub(super) fn lines(role: &GroupRole) -> String {
    let group = quoted(&role.group);
    let mut text = format!(
        "[[{KEY}]]\ngroup = {group}\nrole = \"{}\"\n",
        role.role.word()
    );
    if let Some(clusters) = &role.clusters {
        let names: Vec<String> = clusters.iter().map(|name| quoted(name)).collect();
        text.push_str(&format!("clusters = [{}]\n", names.join(", ")));
    }
    text
}

#[cfg(feature = "console")]
pub(super) use console::{OpenId, open};

#[cfg(not(feature = "console"))]
pub(super) use no_console::OpenId;

/// Pages for people are where they sign in.
#[cfg(feature = "console")]
mod console {
    use placewright_openid::{Address, OpenIdOptions, Provider, certificates};

    use placewright_http::GroupRole;

    use super::OpenIdSettings;
    use crate::cli::failure::Failure;
    use crate::cli::units;

    pub(in super::super) use placewright_console::OpenId;

    /// Read the files that the settings name.
    pub(in super::super) fn open(
        settings: &OpenIdSettings,
        roles: &[GroupRole],
    ) -> Result<OpenId, Failure> {
        let issuer = Address::parse(&settings.issuer);
        let public = public(&settings.public_url);
        let (issuer, redirect) = (
            issuer.map_err(|error| wrong("openid-issuer", &error))?,
            public.map_err(|error| wrong("public-url", &error))?,
        );
        let secret = settings.secret.as_deref().map(|file| {
            let text = units::read(file)?;
            match text.trim() {
                "" => Err(wrong(
                    "openid-client-secret",
                    &format!("{} is empty", file.display()),
                )),
                text => Ok(text.to_owned()),
            }
        });
        let authorities = settings.certificates.as_deref().map(|file| {
            let found = certificates(units::read(file)?.as_bytes());
            found.map_err(|error| {
                wrong(
                    "openid-certificates",
                    &format!("{}: {error}", file.display()),
                )
            })
        });
        let options = OpenIdOptions {
            issuer,
            client: settings.client.clone(),
            secret: secret.transpose()?,
            certificates: authorities.transpose()?,
            redirect,
            scopes: settings.scopes.clone(),
            name_claim: settings.name.clone(),
            groups_claim: settings.groups.clone(),
        };
        let session = settings.session;
        Ok(OpenId::new(Provider::new(options), roles.to_vec(), session))
    }

    /// Where the provider sends browsers back to.
    fn public(text: &str) -> Result<Address, String> {
        let public = Address::parse(text)?;
        match public.is_root() {
            true => Ok(public.below(placewright_console::OPENID_BACK)),
            false => Err(format!(
                "\"{text}\" must have no path: the console is at / of the server"
            )),
        }
    }

    fn wrong(option: &str, sentence: &str) -> Failure {
        Failure::input_because(format!("{option}: {sentence}"))
    }
}

#[cfg(not(feature = "console"))]
mod no_console {
    /// There is nothing to sign in to.
    #[derive(Debug)]
    pub(in super::super) enum OpenId {}
}
