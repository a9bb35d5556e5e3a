#!/usr/bin/env python3
"""Packages the extension of Visual Studio Code as a .vsix file.

usage: package_vscode.py FILE.vsix

Installs the client library of editors/vscode/package-lock.json with npm and bundles it with esbuild. The same sources
give the same bytes.
"""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
MEMBERS = ["package.json", "README.md", "language-configuration.json", "syntaxes/mir.tmLanguage.json",
           "dist/extension.js"]
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/>\
<Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/>\
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
"""


def bundle():
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=EXTENSION, check=True)
    subprocess.run(["node_modules/.bin/esbuild", "--bundle", "--platform=node", "--external:vscode", "--minify",
                    "--legal-comments=eof", "--log-level=warning", "--outfile=dist/extension.js", "src/extension.js"],
                   cwd=EXTENSION, check=True)


def licences():
    """Ours, and those of the packages in the bundle."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    for path, package in sorted(lock["packages"].items()):
        if not path or package.get("dev"):
            continue
        for licence in sorted((EXTENSION / path).glob("[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*")):
            text += f"\n---- {path.removeprefix('node_modules/')}\n\n{licence.read_text(encoding='utf-8')}"
    return text


def manifest(package):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(package["name"])} Version={quoteattr(package["version"])} \
Publisher={quoteattr(package["publisher"])}/>
    <DisplayName>{escape(package["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(package["description"])}</Description>
    <Categories>{escape(",".join(package["categories"]))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])}/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def write_package(path):
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    members = {"[Content_Types].xml": TYPES, "extension.vsixmanifest": manifest(package),
               "extension/LICENSE.txt": licences()}
    for name in MEMBERS:
        members[f"extension/{name}"] = (EXTENSION / name).read_text(encoding="utf-8")
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    bundle()
    write_package(arguments[0])


if __name__ == "__main__":
    main(sys.argv[1:])
